/*
 * split.c - reads the id of a split file (.dwo, .dwp). The skeleton unit in the program has the same id.
 *
 *     DWARF 5   in the header of the unit                  DWARF 4   DW_AT_GNU_dwo_id of its first entry
 *     package   the lowest id in .debug_cu_index, independent of the order of packing
 */
#include "object/parts.h"

#include "base/bytes.h"

#define UNIT_TYPE       2
#define UNIT_SPLIT      5
#define UNIT_SPLIT_TYPE 6
#define GNU_DWO_ID      0x2131
#define FORM_DATA_8     0x07
#define INDEX_HEAD      16u

struct package_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool over; /* sticky: a read went past the end */
};

static uint64_t take(struct package_cursor *c, unsigned width)
{
    c->over |= (size_t)(c->end - c->p) < width;
    if (c->over)
        return 0;
    c->p += width;
    return load_wide(c->p - width, width);
}

static uint64_t take_leb(struct package_cursor *c)
{
    uint64_t value = 0;
    uint64_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 7 * MIRE_LEB_MAX && !c->over; shift += 7) {
        byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
    }
    return value;
}

/* Skip a value of any form that the first entry of a unit may have. */
static void skip_form(struct package_cursor *c, uint64_t form)
{
    switch (form) {
    case 0x0b: /* data1, flag, strx1 */
    case 0x0c:
    case 0x25:
        take(c, 1);
        return;
    case 0x05: /* data2, strx2 */
    case 0x26:
        take(c, 2);
        return;
    case 0x06: /* data4, strp, sec_offset, strx4 */
    case 0x0e:
    case 0x17:
    case 0x28:
        take(c, 4);
        return;
    case 0x01: /* addr of 8 bytes, data8, ref_sig8 */
    case FORM_DATA_8:
    case 0x20:
        take(c, 8);
        return;
    case 0x08: /* string */
        while (!c->over && take(c, 1))
            continue;
        return;
    case 0x0d: /* sdata, udata, strx, GNU's indices of addresses and strings */
    case 0x0f:
    case 0x1a:
    case 0x1f01:
    case 0x1f02:
        take_leb(c);
        return;
    case 0x19: /* flag_present */
        return;
    default:
        c->over = true;
    }
}

/* Find an abbreviation, and move the cursor to its first attribute. */
static void find_abbrev(struct package_cursor *abbrevs, uint64_t wanted)
{
    while (!abbrevs->over) {
        uint64_t code = take_leb(abbrevs);
        abbrevs->over |= !code;
        take_leb(abbrevs); /* tag */
        take(abbrevs, 1);
        if (code == wanted)
            return;
        for (uint64_t name = 1, form = 1; (name || form) && !abbrevs->over;) {
            name = take_leb(abbrevs);
            form = take_leb(abbrevs);
            if (form == 0x21)
                take_leb(abbrevs);
        }
    }
}

static bool id_of_entry(uint64_t *out, struct package_cursor *entry, const struct section *abbrev, uint64_t offset)
{
    if (offset >= abbrev->len)
        return false;
    struct package_cursor abbrevs = {abbrev->bytes + offset, abbrev->bytes + abbrev->len, false};
    find_abbrev(&abbrevs, take_leb(entry));
    while (!abbrevs.over && !entry->over) {
        uint64_t name = take_leb(&abbrevs);
        uint64_t form = take_leb(&abbrevs);
        if (!name && !form)
            break;
        if (name == GNU_DWO_ID && form == FORM_DATA_8) {
            *out = take(entry, 8);
            return !entry->over;
        }
        skip_form(entry, form);
    }
    return false;
}

bool split_begins_with_type(const uint8_t *bytes, size_t len)
{
    struct package_cursor c = {bytes, bytes + len, false};
    if (take(&c, 4) == UINT32_MAX)
        take(&c, 8);
    uint64_t version = take(&c, 2);
    uint64_t type = take(&c, 1);
    return !c.over && version >= 5 && (type == UNIT_TYPE || type == UNIT_SPLIT_TYPE);
}

/* The id of the first unit of code in .debug_info.dwo. */
static bool id_of_units(uint64_t *out, const struct section *info, const struct section *abbrev)
{
    struct package_cursor c = {info->bytes, info->bytes + info->len, false};
    while (!c.over && c.p < c.end) {
        uint64_t len = take(&c, 4); /* a 64-bit length does not occur in split units */
        if (c.over || len > (size_t)(c.end - c.p))
            return false;
        struct package_cursor unit = {c.p, c.p + len, false};
        c.p += len;
        uint64_t version = take(&unit, 2);
        if (version >= 5) {
            uint64_t type = take(&unit, 1);
            take(&unit, 5); /* address size, offset of the abbreviations */
            *out = take(&unit, 8);
            if (type == UNIT_SPLIT)
                return !unit.over;
        } else {
            uint64_t offset = take(&unit, 4);
            take(&unit, 1);
            return id_of_entry(out, &unit, abbrev, offset);
        }
    }
    return false;
}

static bool id_of_package(uint64_t *out, const struct section *index)
{
    if (index->len < INDEX_HEAD)
        return false;
    uint64_t slots = load_32(index->bytes + 12);
    if (slots > (index->len - INDEX_HEAD) / 12)
        return false;
    const uint8_t *ids = index->bytes + INDEX_HEAD;
    const uint8_t *rows = ids + slots * 8;
    bool any = false;
    for (uint64_t i = 0; i < slots; i++) {
        uint64_t id = load_64(ids + i * 8);
        if (!load_32(rows + i * 4) || (any && id >= *out))
            continue;
        *out = id;
        any = true;
    }
    return any;
}

bool split_id(struct object_facts *facts, const struct split_parts *parts)
{
    uint64_t id = 0;
    bool good = parts->index.bytes ? id_of_package(&id, &parts->index) : id_of_units(&id, &parts->info, &parts->abbrev);
    for (unsigned i = 0; i < 8 && good; i++)
        facts->id[i] = (uint8_t)(id >> (56 - 8 * i));
    facts->id_len = good ? 8 : 0;
    return good;
}
