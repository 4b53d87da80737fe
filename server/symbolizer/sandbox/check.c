/*
 * check.c - reads unit after unit and keeps no results.
 */
#include "sandbox/check.h"
#include "cache/breakpad.h"
#include "java/retrace.h"

#include <inttypes.h>
#include <stdio.h>

#define UNITS_AT_ONCE 64 /* units whose results are kept; names are interned among them */

struct damage {
    size_t units; /* units that cannot be read completely */
    uint64_t at;  /* position of the first one; UINT64_MAX: unknown */
};

/* Read all units. Returns NULL, or the problem. */
static const char *find_damage(struct damage *out, const struct object *object)
{
    const struct dwarf_harvest empty = {.everything = true};
    struct dwarf_harvest harvest = empty;
    struct dwarf *dwarf;
    uint64_t base = object->code_count ? object->code[0].low : 0;
    const char *wrong = dwarf_open(&dwarf, object, NULL, base, 1);
    if (wrong)
        return wrong;
    size_t count = dwarf_unit_count(dwarf);
    out->units = dwarf_units_lost(dwarf);
    for (size_t i = 0; i < count && !wrong; i++) {
        size_t before = harvest.damaged_units;
        wrong = dwarf_read(&harvest, dwarf, i) ? NULL : "needs more memory than there is";
        if (harvest.damaged_units > before && !out->units++)
            out->at = dwarf_unit_at(dwarf, i);
        if ((i + 1) % UNITS_AT_ONCE == 0) {
            dwarf_harvest_fini(&harvest);
            harvest = empty;
        }
    }
    dwarf_harvest_fini(&harvest);
    dwarf_close(dwarf);
    return wrong;
}

bool symbols_check(char *why, enum symbol_depth *depth_out, const struct file_bytes *file)
{
    struct object *object;
    struct dwarf_harvest harvest = {0};
    struct damage damage = {.at = UINT64_MAX};
    const char *wrong = object_open(&object, file, NULL, 0, 1);
    why[0] = '\0';
    *depth_out = wrong ? MIRE_DEPTH_UNKNOWN : object_depth(object);
    if (!wrong) {
        if (object->facts.format == MIRE_FORMAT_BREAKPAD) {
            wrong = breakpad_harvest(&harvest, object, 0) ? NULL : "needs more memory than there is";
            damage.units = harvest.damaged_units;
            dwarf_harvest_fini(&harvest);
        } else if (object->facts.has_dwarf && object->sections[MIRE_SECTION_INFO].len) {
            wrong = find_damage(&damage, object);
        }
        if (object->facts.changed)
            wrong = MIRE_RETRACE_DEFECT;
        object_close(object);
    }
    if (wrong)
        snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong);
    else if (damage.units && damage.at != UINT64_MAX)
        snprintf(why, MIRE_SYMBOL_WHY,
                 "is damaged: %zu or more of its units cannot be read whole, the first at 0x%" PRIx64 " of .debug_info",
                 damage.units, damage.at);
    else if (damage.units)
        snprintf(why, MIRE_SYMBOL_WHY, "is damaged: %zu or more of its units cannot be read whole", damage.units);
    return !why[0];
}
