/*
 * dwarf.c - libdw, with an index of its own: address -> unit -> function, built unit by unit when first asked for.
 *
 * Rules that keep answers right: of several units that claim one address (COMDAT functions the linker folded) the first
 * in the file wins; ranges outside the executable segments belong to functions the linker dropped; concrete functions
 * are looked for everywhere, also inside types inside functions (methods of local classes).
 *
 * Entries are walked without recursion, and only ever forward in the file, so that a hostile tree ends.
 */
#include "symbols/dwarf.h"
#include "symbols/spans.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* entries within each other */

struct unit {
    Dwarf_Die die;
    struct spans functions; /* key: offset of the entry */
    bool indexed;
};

struct dwarf {
    Dwarf *handle;
    struct unit *units;
    size_t unit_count;
    struct spans spans; /* key: number of the unit */
    uint64_t code_low;  /* executable segments lie in [code_low, code_high) */
    uint64_t code_high;
};

static bool add_ranges(struct spans *spans, const struct dwarf *dwarf, Dwarf_Die *die, uint64_t key)
{
    Dwarf_Addr base;
    Dwarf_Addr low;
    Dwarf_Addr high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        if (low >= dwarf->code_low && high <= dwarf->code_high && !spans_add(spans, low, high, key))
            return false;
    return true;
}

static void find_code(struct dwarf *dwarf, Elf *elf)
{
    size_t count = 0;
    dwarf->code_low = UINT64_MAX;
    (void)elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr phdr;
        if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X))
            continue;
        uint64_t end = phdr.p_vaddr + phdr.p_memsz;
        dwarf->code_low = phdr.p_vaddr < dwarf->code_low ? phdr.p_vaddr : dwarf->code_low;
        dwarf->code_high = end > dwarf->code_high ? end : dwarf->code_high;
    }
    if (!dwarf->code_high) { /* no program headers: an object file */
        dwarf->code_low = 0;
        dwarf->code_high = UINT64_MAX - 2;
    }
}

static bool add_unit(struct dwarf *dwarf, size_t *room, Dwarf_Die *die)
{
    if (dwarf->unit_count == *room) {
        size_t more = *room ? *room * 2 : 64;
        struct unit *units = reallocarray(dwarf->units, more, sizeof *units);
        if (!units)
            return false;
        dwarf->units = units;
        *room = more;
    }
    dwarf->units[dwarf->unit_count] = (struct unit){.die = *die};
    return add_ranges(&dwarf->spans, dwarf, die, dwarf->unit_count++);
}

static bool read_units(struct dwarf *dwarf)
{
    size_t room = 0;
    size_t header_size;
    Dwarf_Off next;
    for (Dwarf_Off at = 0; dwarf_nextcu(dwarf->handle, at, &next, &header_size, NULL, NULL, NULL) == 0; at = next) {
        Dwarf_Die die;
        if (next <= at)
            break;
        if (!dwarf_offdie(dwarf->handle, at + header_size, &die) || dwarf_tag(&die) != DW_TAG_compile_unit)
            continue;
        if (!add_unit(dwarf, &room, &die))
            return false;
    }
    spans_seal(&dwarf->spans);
    return true;
}

struct dwarf *dwarf_new(Elf *elf)
{
    struct dwarf *dwarf = calloc(1, sizeof *dwarf);
    if (!dwarf)
        return NULL;
    find_code(dwarf, elf);
    dwarf->handle = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (dwarf->handle && read_units(dwarf) && dwarf->unit_count)
        return dwarf;
    dwarf_free(dwarf);
    return NULL;
}

void dwarf_free(struct dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->unit_count; i++)
        spans_fini(&dwarf->units[i].functions);
    free(dwarf->units);
    spans_fini(&dwarf->spans);
    dwarf_end(dwarf->handle);
    free(dwarf);
}

/* The entry after this one on its level. False: there is none, or it lies backwards, which no honest file has. */
static bool next_sibling(Dwarf_Die *die)
{
    Dwarf_Off here = dwarf_dieoffset(die);
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= here)
        return false;
    *die = next;
    return true;
}

static bool may_hold_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
}

/* Every concrete function of a unit. */
static bool index_unit(const struct dwarf *dwarf, struct unit *unit)
{
    Dwarf_Die path[DEPTH_MAX];
    size_t depth = 0;
    unit->indexed = true;
    if (dwarf_child(&unit->die, &path[0]) != 0)
        return true;
    for (;;) {
        Dwarf_Die *die = &path[depth];
        int tag = dwarf_tag(die);
        if (tag == DW_TAG_subprogram && !add_ranges(&unit->functions, dwarf, die, dwarf_dieoffset(die)))
            return false;
        if (may_hold_functions(tag) && depth + 1 < DEPTH_MAX && dwarf_child(die, &path[depth + 1]) == 0 &&
            dwarf_dieoffset(&path[depth + 1]) > dwarf_dieoffset(die)) {
            depth++;
            continue;
        }
        while (!next_sibling(&path[depth])) {
            if (!depth)
                goto done;
            depth--;
        }
    }
done:
    spans_seal(&unit->functions);
    return true;
}

/* The mangled name where there is one, for it says more; otherwise the name in the source, not some alias the linker
 * knows. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? name : dwarf_diename(die);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
        return 0;
    return value;
}

/* From a function to the innermost inlined call that holds the address. Returns how many entries are in `path`. */
static size_t descend(Dwarf_Die *path, size_t room, Dwarf_Die *function, uint64_t address)
{
    size_t depth = 1;
    Dwarf_Die at = *function;
    Dwarf_Die child;
    path[0] = *function;
    for (int steps = 0; steps < 2 * DEPTH_MAX && dwarf_child(&at, &child) == 0; steps++) {
        bool found = false;
        do {
            int tag = dwarf_tag(&child);
            found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
                     tag == DW_TAG_catch_block) &&
                    dwarf_haspc(&child, address) == 1;
        } while (!found && next_sibling(&child));
        if (!found)
            break;
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine && depth < room)
            path[depth++] = child;
        at = child;
    }
    return depth;
}

static size_t describe(struct symbol_frame *out, struct unit *unit, Dwarf_Die *function, const struct span *span,
                       uint64_t address)
{
    Dwarf_Die path[MIRE_SYMBOL_CHAIN_MAX];
    size_t count = descend(path, MIRE_SYMBOL_CHAIN_MAX, function, address);
    Dwarf_Addr entry = span->low;
    Dwarf_Files *files = NULL;
    size_t file_count = 0;
    (void)dwarf_entrypc(function, &entry);
    (void)dwarf_getsrcfiles(&unit->die, &files, &file_count);
    Dwarf_Line *row = dwarf_getsrc_die(&unit->die, address);
    int line = 0;
    const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
    if (row && dwarf_lineno(row, &line) != 0)
        line = 0;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *die = &path[count - 1 - i];
        bool inlined = i + 1 < count;
        out[i] = (struct symbol_frame){name_of(die), file, line > 0 ? (uint32_t)line : 0, inlined, entry};
        if (!inlined)
            break;
        Dwarf_Word call_file = number_of(die, DW_AT_call_file); /* where the next one out is */
        file = call_file < file_count ? dwarf_filesrc(files, call_file, NULL, NULL) : NULL;
        line = (int)number_of(die, DW_AT_call_line);
    }
    return count;
}

size_t dwarf_lookup(struct symbol_frame *out, struct dwarf *dwarf, uint64_t address)
{
    const struct span *claim;
    for (uint64_t key = 0; (claim = spans_find(&dwarf->spans, address, key)); key = claim->key + 1) {
        struct unit *unit = &dwarf->units[claim->key];
        Dwarf_Die function;
        if (!unit->indexed && !index_unit(dwarf, unit))
            return 0;
        const struct span *span = spans_find(&unit->functions, address, 0);
        if (span && dwarf_offdie(dwarf->handle, span->key, &function))
            return describe(out, unit, &function, span, address);
    }
    return 0;
}

bool dwarf_line(const char **file_out, uint32_t *line_out, struct dwarf *dwarf, uint64_t address)
{
    const struct span *claim = spans_find(&dwarf->spans, address, 0);
    Dwarf_Line *row = claim ? dwarf_getsrc_die(&dwarf->units[claim->key].die, address) : NULL;
    int line = 0;
    if (!row || dwarf_lineno(row, &line) != 0 || line <= 0)
        return false;
    *file_out = dwarf_linesrc(row, NULL, NULL);
    *line_out = (uint32_t)line;
    return *file_out != NULL;
}
