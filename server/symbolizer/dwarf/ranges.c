/*
 * ranges.c - reads the ranges of an entry: low and high, or a list in .debug_ranges (to DWARF 4) or .debug_rnglists.
 */
#include "dwarf/unit.h"

#include <string.h>

enum { END, BASE_INDEX, START_INDEX_END, START_INDEX_LEN, OFFSETS, BASE, START_END, START_LEN }; /* DW_RLE_... */

static uint64_t list_place(const struct unit *unit, uint16_t form, uint64_t raw)
{
    const struct section *lists = &unit->dwarf->object->sections[MIRE_SECTION_RNGLISTS];
    if (form != FORM_RNGLISTX)
        return raw + unit->rnglists_start;
    uint64_t at = unit->rnglists_base + raw * unit->offset_size;
    if (raw > lists->len || at >= lists->len || at < unit->rnglists_base)
        return UINT64_MAX;
    return unit->rnglists_base + load_wide(lists->bytes + at, unit->offset_size);
}

void ranges_begin(struct range_walk *walk, const struct unit *unit, const struct die *die)
{
    *walk = (struct range_walk){.unit = unit, .base = unit->low, .new_lists = unit->version >= 5};
    if (die_has(die, AT_LOW) && die_has(die, AT_HIGH)) {
        if (!value_address(&walk->low, unit, die->form[AT_LOW], die->raw[AT_LOW]))
            return;
        if (!value_address(&walk->high, unit, die->form[AT_HIGH], die->raw[AT_HIGH]))
            walk->high = walk->low + die->raw[AT_HIGH];
        return;
    }
    if (!die_has(die, AT_RANGES))
        return;
    const struct section *lists =
        &unit->dwarf->object->sections[walk->new_lists ? MIRE_SECTION_RNGLISTS : MIRE_SECTION_RANGES];
    uint64_t at = walk->new_lists ? list_place(unit, die->form[AT_RANGES], die->raw[AT_RANGES])
                                  : die->raw[AT_RANGES] + unit->ranges_base;
    if (at < lists->len) {
        walk->p = lists->bytes + at;
        walk->end = lists->bytes + lists->len;
    }
}

static bool next_old(uint64_t *low_out, uint64_t *high_out, struct range_walk *walk)
{
    unsigned width = walk->unit->address_size;
    uint64_t most = width == 8 ? UINT64_MAX : UINT32_MAX;
    while ((size_t)(walk->end - walk->p) >= 2 * width) {
        uint64_t low = load_wide(walk->p, width);
        uint64_t high = load_wide(walk->p + width, width);
        walk->p += 2 * width;
        if (!low && !high)
            break;
        if (low == most) {
            walk->base = high;
            continue;
        }
        *low_out = (walk->base + low) & most;
        *high_out = (walk->base + high) & most;
        return true;
    }
    walk->p = NULL;
    return false;
}

/* Read an entry of a new list, at most 1 + 2 * MIRE_LEB_MAX bytes. Returns 1: a range, 0: no range, -1: end of list. */
static int entry_new(uint64_t *low, uint64_t *high, struct range_walk *walk, const uint8_t **at)
{
    const struct unit *unit = walk->unit;
    unsigned width = unit->address_size;
    switch (*(*at)++) {
    case BASE_INDEX:
        if (!unit_address(&walk->base, unit, load_uleb(at)))
            walk->base = 0;
        return 0;
    case START_INDEX_END: {
        uint64_t first = load_uleb(at);
        uint64_t second = load_uleb(at);
        return unit_address(low, unit, first) && unit_address(high, unit, second);
    }
    case START_INDEX_LEN: {
        bool known = unit_address(low, unit, load_uleb(at));
        *high = load_uleb(at);
        *high += known ? *low : 0;
        return known;
    }
    case OFFSETS:
        *low = walk->base + load_uleb(at);
        *high = walk->base + load_uleb(at);
        return 1;
    case BASE:
        walk->base = load_wide(*at, width);
        *at += width;
        return 0;
    case START_END:
        *low = load_wide(*at, width);
        *high = load_wide(*at + width, width);
        *at += 2 * width;
        return 1;
    case START_LEN:
        *low = load_wide(*at, width);
        *at += width;
        *high = *low + load_uleb(at);
        return 1;
    default:
        return -1;
    }
}

bool ranges_next(uint64_t *low_out, uint64_t *high_out, struct range_walk *walk)
{
    if (walk->high) {
        *low_out = walk->low;
        *high_out = walk->high;
        walk->high = 0;
        return true;
    }
    if (!walk->p)
        return false;
    if (!walk->new_lists)
        return next_old(low_out, high_out, walk);
    while (walk->p < walk->end) {
        int kind = entry_new(low_out, high_out, walk, &walk->p);
        if (kind > 0)
            return true;
        if (kind < 0)
            break;
    }
    walk->p = NULL;
    return false;
}
