/*
 * walk.c - visits every entry of a unit once, without recursion.
 *
 * Types contain no code, and gcc's sibling attribute skips one in a single step. Inside a function a type may be a
 * local class, whose methods are code. A function that a lower unit has claimed is skipped as a whole.
 */
#include "dwarf/claims.h"
#include "dwarf/worker.h"

#include "base/grow.h"

#define REFERENCES_MAX 8 /* length of a chain of references to a name */
#define PADDING        8 /* fewer bytes after the last entry may be alignment */

struct entry_name {
    const char *text;
    bool linked;
};

static struct entry_name find_name(struct dwarf_worker *worker, const struct unit *unit, const struct die *die,
                                   int depth);

static struct entry_name name_behind(struct dwarf_worker *worker, const struct unit *unit, const struct die *die,
                                     enum attribute reference, int depth)
{
    struct entry_name name = {0};
    struct die other;
    uint64_t at;
    const struct unit *home = value_reference(&at, unit, die->form[reference], die->raw[reference]);
    if (!home || depth == REFERENCES_MAX)
        return name;
    const uint8_t *key = home->dwarf->object->sections[MIRE_SECTION_INFO].bytes + at;
    struct memo *memo = &worker->memo[((uintptr_t)key * 0x9e3779b97f4a7c15ull >> 40) % NAME_MEMO];
    if (memo->die == key)
        return (struct entry_name){memo->name, memo->linked};
    if (die_at(&other, home, at))
        name = find_name(worker, home, &other, depth + 1);
    *memo = (struct memo){key, name.text, name.linked};
    return name;
}

/* The linker's name from any entry of the chain, otherwise the nearest source name. */
static struct entry_name find_name(struct dwarf_worker *worker, const struct unit *unit, const struct die *die,
                                   int depth)
{
    static const enum attribute references[] = {AT_SPECIFICATION, AT_ORIGIN};
    struct entry_name name = {0};
    if (die_has(die, AT_LINKAGE_NAME))
        name.text = value_text(unit, die->form[AT_LINKAGE_NAME], die->raw[AT_LINKAGE_NAME]);
    name.linked = name.text != NULL;
    if (!name.text && die_has(die, AT_NAME))
        name.text = value_text(unit, die->form[AT_NAME], die->raw[AT_NAME]);
    for (int i = 0; i < 2 && !name.linked; i++) {
        if (!die_has(die, references[i]))
            continue;
        struct entry_name other = name_behind(worker, unit, die, references[i], depth);
        if (other.linked || !name.text)
            name = other;
    }
    return name;
}

const char *name_of(bool *linked_out, struct dwarf_worker *worker, const struct unit *unit, const struct die *die)
{
    struct entry_name name = find_name(worker, unit, die, 0);
    *linked_out = name.linked;
    return name.text;
}

static uint32_t small(const struct die *die, enum attribute attribute)
{
    return die_has(die, attribute) && die->raw[attribute] < UINT32_MAX ? (uint32_t)die->raw[attribute] : 0;
}

/*
 * Paint the code of a function or inlined call, and add a local for it.
 *
 *   scope_out  scope of its children: local plus one
 *
 * Returns 0; 1: its children cannot matter; -1: out of memory.
 */
static int take_scope(struct unit_reading *reading, uint32_t *scope_out, const struct die *die, bool is_function,
                      uint64_t at)
{
    struct dwarf_worker *worker = reading->worker;
    struct range_walk ranges;
    uint64_t low, high;
    bool any = false;
    bool others = false;
    uint32_t parent = is_function ? 0 : *scope_out;
    if (is_function && die_has(die, AT_DECLARATION))
        return 1;
    if (!GROW(&worker->locals))
        return -1;
    uint32_t self = (uint32_t)worker->locals.count + 1;
    struct local local = {.die = at, .parent = parent};
    ranges_begin(&ranges, reading->unit, die);
    while (ranges_next(&low, &high, &ranges)) {
        struct paint_range range = {.rank = self, .what = self};
        if (!dwarf_offsets(&range.low, &range.high, reading->dwarf, low, high))
            continue;
        if (is_function && !claims_take(reading->dwarf->claims, range.low, range.high, reading->number)) {
            range.what = PAINT_OTHERS;
            others = true;
        } else if (!any) {
            any = true;
            local.entry = range.low;
        }
        if (!paint_add(&worker->paint, range))
            return -1;
    }
    if (any) {
        local.die = 0;
        local.name = name_of(&local.linked, worker, reading->unit, die);
    }
    if (!is_function) {
        local.call_file = small(die, AT_CALL_FILE);
        local.call_line = small(die, AT_CALL_LINE);
    }
    worker->locals.rows[worker->locals.count++] = local;
    *scope_out = self;
    return others && !any;
}

/* The entry after the children; NULL: unknown. */
static const uint8_t *behind(const struct unit_reading *reading, const uint8_t *p, const uint8_t *end, uint64_t sibling)
{
    if (sibling > reading->unit->end - reading->unit->at)
        return NULL;
    const uint8_t *to = reading->unit->dwarf->object->sections[MIRE_SECTION_INFO].bytes + reading->unit->at + sibling;
    return to > p && to <= end ? to : NULL;
}

/*
 * Returns true if the entries after the last one are lost. A truncated file is filled with zeros, and a zero ends all
 * entries. Zig leaves zeros after the entries of a unit too, but there another unit follows.
 */
static bool is_broken_off(const struct unit *unit, const uint8_t *p, const uint8_t *end)
{
    const struct section *info = &unit->dwarf->object->sections[MIRE_SECTION_INFO];
    const uint8_t *rest = p;
    if (p > end || end - p < PADDING)
        return p > end;
    while (rest < end && !*rest)
        rest++;
    return rest < end || info->len - unit->end < 4 || !load_32(end);
}

int walk_unit(struct unit_reading *reading)
{
    const struct unit *unit = reading->unit;
    const uint8_t *info = unit->dwarf->object->sections[MIRE_SECTION_INFO].bytes;
    const uint8_t *p = info + unit->first;
    const uint8_t *end = info + unit->end;
    uint32_t *stack = reading->worker->stack;
    uint32_t depth = 0;
    uint32_t scope = 0;
    struct die die;
    do {
        if (p >= end)
            return 1;
        uint64_t at = (uint64_t)(p - info);
        uint64_t code = load_uleb(&p);
        if (!code) {
            if (!depth)
                return 1;
            scope = stack[--depth];
            continue;
        }
        if (code >= unit->abbrevs->count || !unit->abbrevs->rows[code].tag)
            return 1;
        const struct abbrev *abbrev = &unit->abbrevs->rows[code];
        uint32_t inner = scope;
        const uint8_t *next = NULL;
        if (abbrev->kind == KIND_FUNCTION || abbrev->kind == KIND_INLINED) {
            p = die_read(&die, p, end, unit, abbrev);
            int rc = p ? take_scope(reading, &inner, &die, abbrev->kind == KIND_FUNCTION, at) : 1;
            if (rc < 0 || !p)
                return rc;
            if (rc && abbrev->has_children && die_has(&die, AT_SIBLING))
                next = behind(reading, p, end, die.raw[AT_SIBLING]);
        } else {
            if (abbrev->kind == KIND_TYPE && !scope && abbrev->has_children && abbrev->sibling >= 0)
                next = behind(reading, p, end, load_32(p + abbrev->sibling));
            p = abbrev->fixed >= 0 || next ? p + abbrev->fixed : die_read(&die, p, end, unit, abbrev);
            if (!p)
                return 1;
        }
        if (next) {
            p = next;
        } else if (abbrev->has_children) {
            if (depth == MIRE_DWARF_NESTED_MAX)
                return 1;
            stack[depth++] = scope;
            scope = inner;
        }
    } while (depth);
    return is_broken_off(unit, p, end);
}
