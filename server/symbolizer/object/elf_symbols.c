/*
 * elf_symbols.c - the functions of an ELF file's symbol tables.
 */
#include "object/elf_inside.h"

#include "base/grow.h"

#include <string.h>

/* Symbols with a size rank above those without; then global, weak, local; then fewer leading underscores. A name of an
 * older library version (name@VERSION) ranks as local. */
static uint8_t rank_of(unsigned bind, bool sized, const char *name)
{
    bool is_old = strchr(name, '@') && !strstr(name, "@@");
    unsigned rank = 0;
    size_t underscores = strspn(name, "_");
    if (!is_old && bind == STB_GLOBAL)
        rank = 2;
    else if (!is_old && bind == STB_WEAK)
        rank = 1;
    return (uint8_t)((sized ? 64u : 0) + rank * 8 + (underscores < 7 ? 7 - (unsigned)underscores : 0));
}

/* $x, $d.1, $xrv64i: mapping symbols that separate instructions from data. $s4shop... is a Swift name. */
static bool is_mark(const char *name)
{
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
           (!name[2] || name[2] == '.' || !strncmp(name + 1, "xrv", 3));
}

/* Add a symbol if it is a function name. Mapping symbols and local labels such as .L1 are skipped. False: out of
 * memory. */
static bool take_symbol(const struct elf *elf, uint64_t at, const char *names, uint64_t names_len)
{
    struct symbol_list *list = &elf->parts->symbols;
    uint64_t info = FIELD(elf, at, Sym, st_info);
    uint64_t home = FIELD(elf, at, Sym, st_shndx);
    uint64_t name_at = FIELD(elf, at, Sym, st_name);
    unsigned type = ELF64_ST_TYPE(info);
    if (home == SHN_UNDEF || name_at >= names_len || !names[name_at] || is_mark(names + name_at) ||
        names[name_at] == '.' || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
        return true;
    struct section_row row = {0};
    if (home < elf->count) /* not a reserved index */
        row = elf_row(elf, home);
    if (type == STT_NOTYPE && !(row.flags & SHF_EXECINSTR))
        return true;
    struct symbol symbol = {.low = FIELD(elf, at, Sym, st_value), .name = names + name_at};
    uint64_t size = FIELD(elf, at, Sym, st_size);
    if (FIELD(elf, 0, Ehdr, e_machine) == EM_ARM)
        symbol.low &= ~1ull; /* Thumb */
    symbol.high = size ? symbol.low + size : row.address + row.size;
    symbol.rank = rank_of(ELF64_ST_BIND(info), size != 0, symbol.name);
    if (symbol.high <= symbol.low)
        return true;
    if (!GROW(list))
        return false;
    list->rows[list->count++] = symbol;
    return true;
}

const char *elf_take_symbols(const struct elf *elf, const struct section_row *table)
{
    elf->parts->facts.has_symbols |= table->size > 0;
    if (!elf->parts->object || table->entry_size != SIZE(elf, Sym) || table->link >= elf->count)
        return NULL;
    struct section_row names = elf_row(elf, table->link);
    if (names.type != SHT_STRTAB)
        return NULL;
    for (uint64_t at = table->offset; table->offset + table->size - at >= SIZE(elf, Sym); at += SIZE(elf, Sym))
        if (!take_symbol(elf, at, (const char *)elf->parts->bytes + names.offset, names.size))
            return "needs more memory than there is";
    return NULL;
}
