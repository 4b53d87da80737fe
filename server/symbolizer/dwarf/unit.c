/*
 * unit.c - lists units and interprets the values of entries.
 */
#include "dwarf/unit.h"
#include "dwarf/claims.h"

#include "base/grow.h"

#include <stdlib.h>

#define UNIT_TYPE       2 /* DW_UT_... of DWARF 5 */
#define UNIT_PARTIAL    3
#define UNIT_SKELETON   4
#define UNIT_SPLIT      5
#define UNIT_SPLIT_TYPE 6
#define TAG_PARTIAL     0x3c

static const struct section *section_of(const struct unit *unit, enum section_name name)
{
    return &unit->dwarf->object->sections[name];
}

bool dwarf_offsets(uint32_t *low_out, uint32_t *high_out, const struct dwarf *dwarf, uint64_t low, uint64_t high)
{
    if (low >= high || low < dwarf->base || high - dwarf->base > dwarf->limit ||
        !object_is_code(dwarf->object, low, high))
        return false;
    *low_out = (uint32_t)(low - dwarf->base);
    *high_out = (uint32_t)(high - dwarf->base);
    return true;
}

static const char *text_at(const struct section *section, uint64_t offset)
{
    return offset < section->len ? (const char *)section->bytes + offset : NULL;
}

static const char *text_of_index(const struct unit *unit, uint64_t index)
{
    const struct section *offsets = section_of(unit, MIRE_SECTION_STR_OFFSETS);
    if (index > offsets->len / unit->offset_size)
        return NULL;
    uint64_t at = unit->str_offsets_base + index * unit->offset_size;
    if (at >= offsets->len || at < unit->str_offsets_base)
        return NULL;
    return text_at(section_of(unit, MIRE_SECTION_STR), load_wide(offsets->bytes + at, unit->offset_size));
}

static const char *text_of(const struct unit *unit, uint16_t form, uint64_t raw)
{
    switch (form) {
    case FORM_STRING:
        return (const char *)(uintptr_t)raw;
    case FORM_STRP:
        return text_at(section_of(unit, MIRE_SECTION_STR), raw);
    case FORM_LINE_STRP:
        return text_at(section_of(unit, MIRE_SECTION_LINE_STR), raw);
    case FORM_GNU_STRP_ALT:
    case FORM_STRP_SUP:
        return unit->dwarf->alt ? text_at(&unit->dwarf->alt->object->sections[MIRE_SECTION_STR], raw) : NULL;
    case FORM_STRX:
    case FORM_GNU_STR_INDEX:
        return text_of_index(unit, raw);
    default:
        return form >= FORM_STRX1 && form <= FORM_STRX4 ? text_of_index(unit, raw) : NULL;
    }
}

const char *value_text(const struct unit *unit, uint16_t form, uint64_t raw)
{
    return hidden_name(unit->dwarf->object->hidden, text_of(unit, form, raw));
}

bool unit_address(uint64_t *out, const struct unit *unit, uint64_t index)
{
    const struct section *addresses = section_of(unit, MIRE_SECTION_ADDR);
    uint64_t at = unit->addr_base + index * unit->address_size;
    if (index > addresses->len || at >= addresses->len || at < unit->addr_base)
        return false;
    *out = load_wide(addresses->bytes + at, unit->address_size);
    return true;
}

bool value_address(uint64_t *out, const struct unit *unit, uint16_t form, uint64_t raw)
{
    if (form == FORM_ADDR) {
        *out = raw;
        return true;
    }
    if (form == FORM_ADDRX || form == FORM_GNU_ADDR_INDEX || (form >= FORM_ADDRX1 && form <= FORM_ADDRX4))
        return unit_address(out, unit, raw);
    if (form == FORM_LLVM_ADDRX_OFFSET && unit_address(out, unit, (uint32_t)raw)) {
        *out += raw >> 32;
        return true;
    }
    return false;
}

/* The unit whose entries contain an offset. */
static const struct unit *unit_of(const struct dwarf *dwarf, uint64_t at)
{
    size_t low = 0;
    size_t high = dwarf->units.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf->units.rows[middle].first <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at < dwarf->units.rows[low - 1].end ? &dwarf->units.rows[low - 1] : NULL;
}

const struct unit *value_reference(uint64_t *at_out, const struct unit *unit, uint16_t form, uint64_t raw)
{
    *at_out = raw;
    if (form >= FORM_REF1 && form <= FORM_REF_UDATA) {
        *at_out = unit->at + raw;
        return raw < unit->end - unit->at && *at_out >= unit->first ? unit : NULL;
    }
    if (form == FORM_REF_ADDR)
        return unit_of(unit->dwarf, raw);
    if ((form == FORM_GNU_REF_ALT || form == FORM_REF_SUP4 || form == FORM_REF_SUP8) && unit->dwarf->alt)
        return unit_of(unit->dwarf->alt, raw);
    return NULL;
}

const struct abbrev *die_at(struct die *die, const struct unit *unit, uint64_t at)
{
    const struct section *info = section_of(unit, MIRE_SECTION_INFO);
    const uint8_t *p = info->bytes + at;
    uint64_t code = load_uleb(&p);
    if (!unit->abbrevs || !code || code >= unit->abbrevs->count || !unit->abbrevs->rows[code].tag)
        return NULL;
    const struct abbrev *abbrev = &unit->abbrevs->rows[code];
    return die_read(die, p, info->bytes + unit->end, unit, abbrev) ? abbrev : NULL;
}

const uint8_t *step_slow(struct die *die, const uint8_t *p, const uint8_t *end, const struct unit_step *step,
                         const struct unit *unit)
{
    uint64_t raw = 0;
    uint64_t len = 0;
    struct unit_step other = *step;
    switch (step->operation) {
    case STEP_FETCH_3:
        raw = load_wide(p, 3);
        p += 3;
        break;
    case STEP_SLEB:
        raw = (uint64_t)load_sleb(&p);
        break;
    case STEP_ADDRX_OFFSET:
        raw = load_uleb(&p) & UINT32_MAX;
        raw |= (uint64_t)load_32(p) << 32;
        p += 4;
        break;
    case STEP_NOTHING:
        raw = 1;
        break;
    case STEP_CONSTANT:
        raw = (uint64_t)unit->abbrevs->constants.rows[step->arg];
        other.arg = FORM_IMPLICIT_CONST;
        break;
    case STEP_BLOCK_1:
        len = *p++;
        break;
    case STEP_BLOCK_2:
        len = load_16(p);
        p += 2;
        break;
    case STEP_BLOCK_4:
        len = load_32(p);
        p += 4;
        break;
    case STEP_BLOCK_LEB:
        len = load_uleb(&p);
        break;
    case STEP_STRING:
        raw = (uint64_t)(uintptr_t)p;
        if (p > end)
            return NULL;
        len = strnlen((const char *)p, (size_t)(end - p)) + 1;
        break;
    case STEP_INDIRECT:
        if (!step_of_form(&other, load_uleb(&p), unit) || other.operation == STEP_INDIRECT ||
            other.operation == STEP_CONSTANT)
            return NULL;
        if (other.operation == STEP_SKIP)
            return p + other.arg;
        if (other.operation == STEP_LEB)
            raw = load_uleb(&p);
        else if (other.operation >= STEP_FETCH_1 && other.operation <= STEP_FETCH_8) {
            static const uint8_t widths[] = {1, 2, 3, 4, 8};
            unsigned width = widths[other.operation - STEP_FETCH_1];
            raw = load_wide(p, width);
            p += width;
        } else {
            return step_slow(die, p, end, &other, unit);
        }
        break;
    default:
        return NULL;
    }
    if (p > end || len > (uint64_t)(end - p) + (step->operation == STEP_NOTHING))
        return NULL;
    if (other.attribute != AT_NONE) {
        die->raw[other.attribute] = raw;
        die->form[other.attribute] = other.arg;
        die->has |= 1u << other.attribute;
    }
    return p + len;
}

/* Read the properties of the unit from its first entry. Returns false if it is damaged. */
static bool read_root(struct unit *unit, const struct package_piece *piece)
{
    struct die die;
    unit->directory = "";
    unit->str_offsets_base = unit->version >= 5 ? (unit->offset_size == 8 ? 16 : 8) : 0;
    unit->addr_base = unit->version >= 5 ? 8 : 0;
    unit->rnglists_base = unit->offset_size == 8 ? 20 : 12;
    if (piece) {
        unit->str_offsets_base += piece->str_offsets;
        unit->rnglists_base += piece->rnglists;
        unit->rnglists_start = piece->rnglists;
    }
    const struct abbrev *abbrev = die_at(&die, unit, unit->first);
    if (!abbrev || abbrev->kind != KIND_UNIT) {
        unit->is_code = false;
        return abbrev != NULL;
    }
    unit->is_code &= abbrev->tag != TAG_PARTIAL;
    if (die_has(&die, AT_STR_OFFSETS_BASE))
        unit->str_offsets_base = die.raw[AT_STR_OFFSETS_BASE];
    if (die_has(&die, AT_ADDR_BASE))
        unit->addr_base = die.raw[AT_ADDR_BASE];
    if (die_has(&die, AT_RNGLISTS_BASE))
        unit->rnglists_base = die.raw[AT_RNGLISTS_BASE];
    if (die_has(&die, AT_DWO_ID))
        unit->dwo_id = die.raw[AT_DWO_ID];
    const char *dwo = die_has(&die, AT_DWO_NAME) ? value_text(unit, die.form[AT_DWO_NAME], die.raw[AT_DWO_NAME]) : NULL;
    unit->dwo_name = dwo ? dwo : "";
    unit->is_skeleton = dwo && !unit->dwarf->object->split;
    if (die_has(&die, AT_RANGES_BASE))
        unit->split_ranges_base = die.raw[AT_RANGES_BASE];
    if (die_has(&die, AT_LOW) && !value_address(&unit->low, unit, die.form[AT_LOW], die.raw[AT_LOW]))
        unit->low = 0;
    unit->has_lines = die_has(&die, AT_LINES);
    unit->lines = unit->has_lines ? die.raw[AT_LINES] : 0;
    const char *directory =
        die_has(&die, AT_DIRECTORY) ? value_text(unit, die.form[AT_DIRECTORY], die.raw[AT_DIRECTORY]) : NULL;
    unit->directory = directory ? directory : "";
    return true;
}

/* Read the header of the unit at *at, and move *at to the unit's end. Returns false if the unit is unreadable. */
static bool read_header(struct unit *unit, uint64_t *abbrevs_out, uint64_t *at, const struct section *info)
{
    const uint8_t *begin = info->bytes + *at;
    const uint8_t *p = begin + 4;
    uint64_t len = load_32(begin);
    unsigned type = 1;
    unit->at = *at;
    unit->offset_size = 4;
    if (len == 0xffffffffu) {
        len = load_64(p);
        p += 8;
        unit->offset_size = 8;
    }
    if ((uint64_t)(p - info->bytes) > info->len || len > info->len - (uint64_t)(p - info->bytes) || len < 7)
        return false;
    unit->end = (uint64_t)(p - info->bytes) + len;
    *at = unit->end;
    uint16_t version = load_16(p);
    p += 2;
    unit->version = version >= 2 && version <= 5 ? (uint8_t)version : 0;
    if (version >= 5) {
        type = *p++;
        unit->address_size = *p++;
    }
    *abbrevs_out = load_wide(p, unit->offset_size);
    p += unit->offset_size;
    if (version < 5)
        unit->address_size = *p++;
    p += type == UNIT_TYPE || type == UNIT_SPLIT_TYPE ? 8 + unit->offset_size : 0;
    if (type == UNIT_SKELETON || type == UNIT_SPLIT) {
        unit->dwo_id = load_64(p);
        p += 8;
    }
    unit->first = (uint64_t)(p - info->bytes);
    unit->is_code = type != UNIT_TYPE && type != UNIT_SPLIT_TYPE && type != UNIT_PARTIAL;
    return unit->first < unit->end;
}

/* List the units by their headers, and request the abbreviations of each. */
static const char *list_units(struct dwarf *dwarf)
{
    const struct section *info = &dwarf->object->sections[MIRE_SECTION_INFO];
    for (uint64_t at = 0; info->len - at > 4;) {
        struct unit unit = {.dwarf = dwarf};
        uint64_t abbrevs;
        uint64_t before = at;
        bool good = read_header(&unit, &abbrevs, &at, info);
        bool empty = unit.end && unit.first == unit.end; /* left by some linkers */
        good = good && unit.version && (unit.address_size == 4 || unit.address_size == 8);
        dwarf->lost_units += !good && !empty;
        if (at == before)
            break; /* the end of the unit is unknown */
        if (!good)
            continue;
        const struct package_piece *piece = package_at(&dwarf->package, unit.at);
        if (dwarf->package.count && !piece)
            continue; /* a type unit */
        unit.abbrevs = abbrevs_want(dwarf, abbrevs + (piece ? piece->abbrev : 0), &unit);
        if (!unit.abbrevs || !GROW(&dwarf->units))
            return "needs more memory than there is";
        dwarf->units.rows[dwarf->units.count++] = unit;
    }
    return NULL;
}

/* Read the first entry of each unit. A unit whose abbreviations are damaged is skipped. */
static void read_roots(struct dwarf *dwarf)
{
    size_t kept = 0;
    for (size_t i = 0; i < dwarf->units.count; i++) {
        struct unit *unit = &dwarf->units.rows[kept];
        *unit = dwarf->units.rows[i];
        bool good = unit->abbrevs->count;
        kept += good;
        dwarf->lost_units += !good || !read_root(unit, package_at(&dwarf->package, unit->at));
    }
    dwarf->units.count = kept;
}

const char *dwarf_open(struct dwarf **out, const struct object *object, const struct dwarf *alt, uint64_t base,
                       unsigned threads)
{
    struct dwarf *dwarf = calloc(1, sizeof *dwarf);
    if (!dwarf)
        return "needs more memory than there is";
    dwarf->object = object;
    dwarf->alt = alt;
    dwarf->base = base;
    dwarf->limit = UINT32_MAX - 1;
    dwarf->claims = claims_new(object->sections[MIRE_SECTION_INFO].len);
    const struct section *index = &object->sections[MIRE_SECTION_CU_INDEX];
    const char *wrong =
        dwarf->claims && package_read(&dwarf->package, index) ? NULL : "needs more memory than there is";
    if (!wrong && object->split && index->len && !dwarf->package.count)
        wrong = "has a damaged index"; /* all its units would use the offsets of the first one */
    if (!wrong)
        wrong = list_units(dwarf);
    if (!wrong) {
        abbrevs_compile(dwarf, threads);
        read_roots(dwarf);
    }
    if (wrong)
        dwarf_close(dwarf);
    else
        *out = dwarf;
    return wrong;
}

void dwarf_close(struct dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->splits.count; i++)
        dwarf_close(dwarf->splits.rows[i]);
    free(dwarf->splits.rows);
    free(dwarf->skeletons);
    package_fini(&dwarf->package);
    claims_free(dwarf->claims);
    abbrevs_free_all(dwarf);
    free(dwarf->units.rows);
    free(dwarf);
}

size_t dwarf_unit_count(const struct dwarf *dwarf)
{
    return dwarf->units.count;
}

uint64_t dwarf_unit_at(const struct dwarf *dwarf, size_t unit)
{
    return dwarf->units.rows[unit].at;
}

uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, size_t number)
{
    const struct unit *unit = &dwarf->units.rows[number];
    unit = unit->split ? unit->split : unit;
    return unit->end - unit->at;
}

size_t dwarf_units_lost(const struct dwarf *dwarf)
{
    return dwarf->lost_units;
}
