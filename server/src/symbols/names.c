/*
 * names.c - one row an address: of several symbols that begin at one place, the one a reader would call it by.
 *
 * A symbol that tells its size ends there. One without (hand-written assembly) reaches to the next symbol, and no
 * further than its section.
 */
#include "symbols/names.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* Global before weak before local; sized before unsized; among equals fewer leading underscores. */
static unsigned rank_of(const GElf_Sym *symbol, const char *text)
{
    unsigned bind = GELF_ST_BIND(symbol->st_info);
    unsigned rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;
    size_t underscores = strspn(text, "_");
    return (symbol->st_size ? 64u : 0) + rank * 8 + (underscores < 7 ? 7 - (unsigned)underscores : 0);
}

static bool add(struct names *names, struct name name)
{
    if (names->count == names->room) {
        size_t room = names->room ? names->room * 2 : 256;
        struct name *rows = reallocarray(names->rows, room, sizeof *rows);
        if (!rows)
            return false;
        names->rows = rows;
        names->room = room;
    }
    names->rows[names->count++] = name;
    return true;
}

/* Whether a symbol is code that can be called by its name. */
static bool is_function(const GElf_Sym *symbol, const GElf_Shdr *section, const char *text)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || !text || !text[0] || text[0] == '$')
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    return type == STT_NOTYPE && section && section->sh_flags & SHF_EXECINSTR;
}

static bool add_table(struct names *names, Elf *elf, Elf_Scn *scn, const GElf_Shdr *table)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data && table->sh_entsize ? data->d_size / table->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        GElf_Shdr shdr;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        Elf_Scn *home = symbol.st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol.st_shndx) : NULL;
        GElf_Shdr *section = home ? gelf_getshdr(home, &shdr) : NULL;
        const char *text = elf_strptr(elf, table->sh_link, symbol.st_name);
        if (!is_function(&symbol, section, text))
            continue;
        uint64_t section_end = section ? section->sh_addr + section->sh_size : symbol.st_value;
        struct name name = {symbol.st_value, symbol.st_value + symbol.st_size, text, rank_of(&symbol, text)};
        if (!symbol.st_size)
            name.end = section_end;
        if (name.end > name.start && !add(names, name))
            return false;
    }
    return true;
}

bool names_add(struct names *names, Elf *elf)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr shdr;
        if (!gelf_getshdr(scn, &shdr) || (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM))
            continue;
        if (!add_table(names, elf, scn, &shdr))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct name *x = a;
    const struct name *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    size_t x_len = strlen(x->text);
    size_t y_len = strlen(y->text);
    return x_len != y_len ? (x_len < y_len ? -1 : 1) : strcmp(x->text, y->text);
}

void names_seal(struct names *names)
{
    size_t kept = 0;
    if (names->count)
        qsort(names->rows, names->count, sizeof *names->rows, compare);
    for (size_t i = 0; i < names->count; i++) {
        if (kept && names->rows[kept - 1].start == names->rows[i].start)
            continue;
        if (kept && names->rows[kept - 1].rank < 64 && names->rows[kept - 1].end > names->rows[i].start)
            names->rows[kept - 1].end = names->rows[i].start; /* told no size */
        names->rows[kept++] = names->rows[i];
    }
    names->count = kept;
}

const struct name *names_find(const struct names *names, uint64_t address)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->rows[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && names->rows[low - 1].end > address ? &names->rows[low - 1] : NULL;
}

void names_fini(struct names *names)
{
    free(names->rows);
    *names = (struct names){0};
}
