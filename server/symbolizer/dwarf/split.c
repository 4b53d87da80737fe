/*
 * split.c - attaches the units of split files to the skeleton units of the program.
 *
 * The program keeps the data that the linker relocates: addresses, the ranges of the whole unit, lines. A split unit
 * reads them from the program's sections, which replace its object's own.
 */
#include "dwarf/claims.h"
#include "dwarf/unit.h"

#include "base/grow.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    const struct skeleton *x = a;
    const struct skeleton *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* List the skeleton units by id, once. Returns false out of memory. */
static bool list_skeletons(struct dwarf *dwarf)
{
    if (dwarf->skeletons)
        return true;
    struct skeleton *list = calloc(dwarf->units.count + 1, sizeof *list);
    for (size_t i = 0; list && i < dwarf->units.count; i++)
        if (dwarf->units.rows[i].is_skeleton)
            list[dwarf->skeleton_count++] = (struct skeleton){dwarf->units.rows[i].dwo_id, (uint32_t)i};
    if (list)
        qsort(list, dwarf->skeleton_count, sizeof *list, by_id);
    dwarf->skeletons = list;
    return list != NULL;
}

static void lay_under(struct unit *skeleton, struct unit *unit)
{
    if (skeleton->split)
        return; /* a duplicate */
    unit->addr_base = skeleton->addr_base;
    unit->ranges_base = skeleton->split_ranges_base;
    unit->low = skeleton->low;
    skeleton->split = unit;
}

static void borrow(struct object *split, const struct object *program)
{
    static const enum section_name borrowed[] = {MIRE_SECTION_ADDR, MIRE_SECTION_RANGES};
    for (size_t i = 0; i < sizeof borrowed / sizeof *borrowed; i++)
        split->sections[borrowed[i]] = program->sections[borrowed[i]];
}

const char *dwarf_add_split(struct dwarf *dwarf, struct object *object)
{
    struct dwarf *split = NULL;
    if (!list_skeletons(dwarf) || !GROW(&dwarf->splits))
        return "needs more memory than there is";
    borrow(object, dwarf->object);
    const char *wrong = dwarf_open(&split, object, NULL, dwarf->base, 1);
    if (wrong)
        return wrong;
    claims_free(split->claims); /* the program's claims are used */
    split->claims = NULL;
    for (size_t i = 0; i < split->units.count; i++) {
        struct unit *unit = &split->units.rows[i];
        struct skeleton wanted = {.id = unit->dwo_id};
        const struct skeleton *found =
            unit->is_code ? bsearch(&wanted, dwarf->skeletons, dwarf->skeleton_count, sizeof *dwarf->skeletons, by_id)
                          : NULL;
        if (found)
            lay_under(&dwarf->units.rows[found->unit], unit);
    }
    dwarf->splits.rows[dwarf->splits.count++] = split;
    return NULL;
}

size_t dwarf_wants(struct dwarf_wanted *out, size_t room, const struct dwarf *dwarf)
{
    size_t count = 0;
    for (size_t i = 0; i < dwarf->units.count && count < room; i++) {
        const struct unit *unit = &dwarf->units.rows[i];
        if (unit->is_skeleton && (!unit->split || unit->damaged))
            out[count++] = (struct dwarf_wanted){unit->dwo_id, unit->dwo_name, unit->directory, unit->split != NULL};
    }
    return count;
}
