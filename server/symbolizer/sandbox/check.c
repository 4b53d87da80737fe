/*
 * check.c - reads unit after unit and keeps nothing of them.
 */
#include "sandbox/check.h"
#include "cache/breakpad.h"
#include "java/retrace.h"

#include <inttypes.h>
#include <stdio.h>

#define UNITS_AT_ONCE 64 /* whose findings are kept: names are looked up among them */

struct damage {
    size_t units; /* that cannot be read whole */
    uint64_t at;  /* where the first of them begins; UINT64_MAX: unknown */
};

/* Read all units. NULL, or what is wrong. */
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

#define TAG_FORMAL_PARAMETER 0x05
#define TAG_BASE_TYPE        0x24
#define FORM_IMPLICIT_CONST  0x21

static uint64_t take_uleb(struct section *rest)
{
    uint64_t value = 0;
    for (unsigned shift = 0; rest->len; shift += 7) {
        uint8_t byte = *rest->bytes++;
        rest->len--;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return value;
    }
    return value;
}

/* Is there anything that has values? Compilers that write line tables alone describe functions, and no more of them. */
static bool has_values(const struct object *object)
{
    struct section rest = object->sections[MIRE_SECTION_ABBREV];
    while (rest.bytes && rest.len) {
        if (!take_uleb(&rest))
            continue; /* the end of a table */
        uint64_t tag = take_uleb(&rest), attribute, form;
        (void)take_uleb(&rest); /* has it children? */
        if (tag == TAG_FORMAL_PARAMETER || tag == TAG_BASE_TYPE)
            return true;
        do {
            attribute = take_uleb(&rest);
            form = take_uleb(&rest);
            if (form == FORM_IMPLICIT_CONST)
                (void)take_uleb(&rest);
        } while (rest.len && (attribute || form));
    }
    return false;
}

static enum symbol_depth depth_of(const struct object *object)
{
    if (!object->facts.has_dwarf)
        return MIRE_DEPTH_NAMES;
    bool lines = object->facts.format != MIRE_FORMAT_ELF && object->facts.format != MIRE_FORMAT_MACHO;
    return !lines && has_values(object) ? MIRE_DEPTH_DWARF : MIRE_DEPTH_LINES;
}

bool symbols_check(char *why, enum symbol_depth *depth_out, const struct file_bytes *file)
{
    struct object *object;
    struct dwarf_harvest harvest = {0};
    struct damage damage = {.at = UINT64_MAX};
    const char *wrong = object_open(&object, file, NULL, 0, 1);
    why[0] = '\0';
    *depth_out = wrong ? MIRE_DEPTH_UNKNOWN : depth_of(object);
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
