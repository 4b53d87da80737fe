/*
 * check.c - reads unit after unit and keeps nothing of them.
 */
#include "symbols/check.h"
#include "symbols/breakpad.h"
#include "symbols/retrace.h"
#include "symbols/symbols.h"

#include <stdio.h>

#define UNITS_AT_ONCE 64 /* whose findings are kept: names are looked up among them */

/* Units that cannot be read whole, of all that there are. NULL, or what is wrong. */
static const char *count_damaged(size_t *damaged_out, const struct object *object)
{
    struct dwarf_harvest harvest = {0};
    struct dwarf *dwarf;
    uint64_t base = object->code_count ? object->code[0].low : 0;
    const char *wrong = dwarf_open(&dwarf, object, NULL, base, 1);
    if (wrong)
        return wrong;
    size_t count = dwarf_unit_count(dwarf);
    *damaged_out = dwarf_units_lost(dwarf);
    for (size_t i = 0; i < count && !wrong; i++) {
        wrong = dwarf_read(&harvest, dwarf, i) ? NULL : "needs more memory than there is";
        if (i + 1 < count && (i + 1) % UNITS_AT_ONCE)
            continue;
        *damaged_out += harvest.damaged_units;
        dwarf_harvest_fini(&harvest);
    }
    dwarf_harvest_fini(&harvest);
    dwarf_close(dwarf);
    return wrong;
}

bool symbols_check(char *why, const struct file_bytes *file)
{
    struct object *object;
    struct dwarf_harvest harvest = {0};
    size_t damaged = 0;
    const char *wrong = object_open(&object, file, NULL, 0, 1);
    why[0] = '\0';
    if (!wrong) {
        if (object->facts.format == MIRE_FORMAT_BREAKPAD) {
            wrong = breakpad_harvest(&harvest, object, 0) ? NULL : "needs more memory than there is";
            damaged = harvest.damaged_units;
            dwarf_harvest_fini(&harvest);
        } else if (object->facts.has_dwarf && object->sections[MIRE_SECTION_INFO].len) {
            wrong = count_damaged(&damaged, object);
        }
        if (object->facts.changed)
            wrong = MIRE_RETRACE_FLAW;
        object_close(object);
    }
    if (wrong)
        snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong);
    else if (damaged)
        snprintf(why, MIRE_SYMBOL_WHY, "is damaged: %zu or more of its units cannot be read whole", damaged);
    return !why[0];
}
