/*
 * abbrev.c - compiles tables of .debug_abbrev. Units that share a table and a shape share the compiled steps. Most
 * units have a table of their own, so threads take one table after another.
 */
#include "dwarf/unit.h"

#include "base/grow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CODES_MAX      1000000u /* honest tables number their codes from 1 */
#define THREADS_MAX    15
#define WORTH_A_THREAD 64 /* tables that a thread pays for: about a millisecond */

static enum attribute attribute_of(uint64_t name)
{
    switch (name) {
    case 0x01:
        return AT_SIBLING;
    case 0x03:
        return AT_NAME;
    case 0x10:
        return AT_LINES;
    case 0x11:
        return AT_LOW;
    case 0x12:
        return AT_HIGH;
    case 0x1b:
        return AT_DIRECTORY;
    case 0x31:
        return AT_ORIGIN;
    case 0x3c:
        return AT_DECLARATION;
    case 0x47:
        return AT_SPECIFICATION;
    case 0x55:
        return AT_RANGES;
    case 0x58:
        return AT_CALL_FILE;
    case 0x59:
        return AT_CALL_LINE;
    case 0x6e:
    case 0x2007: /* MIPS */
        return AT_LINKAGE_NAME;
    case 0x72:
        return AT_STR_OFFSETS_BASE;
    case 0x73:
    case 0x2133: /* GNU */
        return AT_ADDR_BASE;
    case 0x74:
        return AT_RNGLISTS_BASE;
    case 0x76:
    case 0x2130: /* GNU */
        return AT_DWO_NAME;
    case 0x2131: /* GNU */
        return AT_DWO_ID;
    case 0x2132: /* GNU */
        return AT_RANGES_BASE;
    default:
        return AT_NONE;
    }
}

static enum entry_kind kind_of(uint64_t tag)
{
    switch (tag) {
    case 0x2e:
        return KIND_FUNCTION;
    case 0x1d:
        return KIND_INLINED;
    case 0x01: /* array, class, enumeration, structure, function type, union */
    case 0x02:
    case 0x04:
    case 0x13:
    case 0x15:
    case 0x17:
        return KIND_TYPE;
    case 0x11: /* compile, partial, skeleton */
    case 0x3c:
    case 0x4a:
        return KIND_UNIT;
    default:
        return KIND_OTHER;
    }
}

static uint8_t fetch_of(unsigned width)
{
    switch (width) {
    case 1:
        return STEP_FETCH_1;
    case 2:
        return STEP_FETCH_2;
    case 4:
        return STEP_FETCH_4;
    default:
        return STEP_FETCH_8;
    }
}

bool step_of_form(struct unit_step *out, uint64_t form, const struct unit *shape)
{
    out->arg = (uint16_t)form;
    switch (form) {
    case 0x0b: /* data1, flag, ref1, strx1, addrx1 */
    case 0x0c:
    case 0x11:
    case 0x25:
    case 0x29:
        out->operation = STEP_FETCH_1;
        return true;
    case 0x05: /* data2, ref2, strx2, addrx2 */
    case 0x12:
    case 0x26:
    case 0x2a:
        out->operation = STEP_FETCH_2;
        return true;
    case 0x27: /* strx3, addrx3 */
    case 0x2b:
        out->operation = STEP_FETCH_3;
        return true;
    case 0x06: /* data4, ref4, ref_sup4, strx4, addrx4 */
    case 0x13:
    case 0x1c:
    case 0x28:
    case 0x2c:
        out->operation = STEP_FETCH_4;
        return true;
    case 0x07: /* data8, ref8, ref_sig8, ref_sup8 */
    case 0x14:
    case 0x20:
    case 0x24:
        out->operation = STEP_FETCH_8;
        return true;
    case 0x01:
        out->operation = fetch_of(shape->address_size);
        return true;
    case 0x10: /* ref_addr */
        out->operation = fetch_of(shape->version <= 2 ? shape->address_size : shape->offset_size);
        return true;
    case 0x0e: /* strp, sec_offset, strp_sup, line_strp, GNU's alternatives */
    case 0x17:
    case 0x1d:
    case 0x1f:
    case 0x1f20:
    case 0x1f21:
        out->operation = fetch_of(shape->offset_size);
        return true;
    case 0x0d:
        out->operation = STEP_SLEB;
        return true;
    case 0x0f: /* udata, ref_udata, strx, addrx, loclistx, rnglistx, GNU's indices */
    case 0x15:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23:
    case 0x1f01:
    case 0x1f02:
        out->operation = STEP_LEB;
        return true;
    case 0x2001: /* LLVM's addrx_offset */
        out->operation = STEP_ADDRX_OFFSET;
        return true;
    case 0x0a:
        out->operation = STEP_BLOCK_1;
        return true;
    case 0x03:
        out->operation = STEP_BLOCK_2;
        return true;
    case 0x04:
        out->operation = STEP_BLOCK_4;
        return true;
    case 0x09:
    case 0x18:
        out->operation = STEP_BLOCK_LEB;
        return true;
    case 0x08:
        out->operation = STEP_STRING;
        return true;
    case 0x16:
        out->operation = STEP_INDIRECT;
        return true;
    case 0x19:
        out->operation = STEP_NOTHING;
        return true;
    case 0x1e: /* data16 */
        *out = (struct unit_step){STEP_SKIP, AT_NONE, 16};
        return true;
    case 0x21:
        out->operation = STEP_CONSTANT;
        return true;
    default:
        return false;
    }
}

/* Bytes that a step always takes; -1: variable. */
static int width_of(const struct unit_step *step)
{
    switch (step->operation) {
    case STEP_SKIP:
        return step->arg;
    case STEP_FETCH_1:
        return 1;
    case STEP_FETCH_2:
        return 2;
    case STEP_FETCH_3:
        return 3;
    case STEP_FETCH_4:
        return 4;
    case STEP_FETCH_8:
        return 8;
    case STEP_NOTHING:
    case STEP_CONSTANT:
        return 0;
    default:
        return -1;
    }
}

static bool add_step(struct abbrevs *table, struct abbrev *abbrev, struct unit_step step)
{
    int width = width_of(&step);
    struct unit_step *last = abbrev->step_count ? &table->steps.rows[table->steps.count - 1] : NULL;
    if (step.attribute == AT_NONE && width >= 0) { /* unused attribute */
        if (!width)
            return true;
        step = (struct unit_step){STEP_SKIP, AT_NONE, (uint16_t)width};
        if (last && last->operation == STEP_SKIP) {
            last->arg = (uint16_t)(last->arg + width);
            return true;
        }
    }
    if (!GROW(&table->steps))
        return false;
    table->steps.rows[table->steps.count++] = step;
    abbrev->step_count++;
    return true;
}

/* Compile the attributes of one abbreviation. Returns false if it is damaged, or out of memory. */
static bool compile(struct abbrevs *table, struct abbrev *abbrev, const uint8_t **at, const uint8_t *end,
                    const struct unit *shape)
{
    const uint8_t *p = *at;
    int32_t bytes = 0; /* offset of this attribute in the entry; -1: variable */
    uint32_t most = 0;
    abbrev->first_step = (uint32_t)table->steps.count;
    for (;;) {
        struct unit_step step = {0};
        if (p >= end)
            return false;
        uint64_t name = load_uleb(&p);
        uint64_t form = load_uleb(&p);
        if (!name && !form)
            break;
        if (!step_of_form(&step, form, shape))
            return false;
        bool asked = abbrev->kind == KIND_FUNCTION || abbrev->kind == KIND_INLINED || abbrev->kind == KIND_UNIT;
        step.attribute = asked && step.operation != STEP_SKIP ? attribute_of(name) : AT_NONE;
        if (step.operation == STEP_CONSTANT) {
            int64_t value = load_sleb(&p);
            if (step.attribute != AT_NONE) {
                if (table->constants.count > UINT16_MAX || !GROW(&table->constants))
                    return false;
                step.arg = (uint16_t)table->constants.count;
                table->constants.rows[table->constants.count++] = value;
            }
        }
        if (name == 0x01 && form == 0x13 && bytes >= 0 && bytes < INT16_MAX)
            abbrev->sibling = (int16_t)bytes;
        int width = width_of(&step);
        bytes = width >= 0 && bytes >= 0 ? bytes + width : -1;
        most += width >= 0 ? (uint32_t)width : 2 * MIRE_LEB_MAX;
        if (most > MIRE_OBJECT_PAD / 2 || !add_step(table, abbrev, step))
            return false;
    }
    abbrev->fixed = bytes;
    *at = p;
    return true;
}

static bool set_row(struct abbrevs *table, uint64_t code, const struct abbrev *abbrev)
{
    while (table->count <= code) {
        if (!GROW(table))
            return false;
        table->rows[table->count++] = (struct abbrev){0};
    }
    table->rows[code] = *abbrev;
    return true;
}

/* The offset of the table, and the properties of a unit that forms depend on. */
static uint64_t key_of(uint64_t offset, const struct unit *shape)
{
    return offset * 8 + (shape->version <= 2) * 4 + (shape->address_size == 8) * 2 + (shape->offset_size == 8);
}

static struct unit shape_of(uint64_t key)
{
    return (struct unit){.version = key & 4 ? 2 : 3, .address_size = key & 2 ? 8 : 4, .offset_size = key & 1 ? 8 : 4};
}

static void empty_table(struct abbrevs *table)
{
    free(table->rows);
    free(table->steps.rows);
    free(table->constants.rows);
    *table = (struct abbrevs){.key = table->key};
}

/* Compile one table; a damaged table becomes empty. */
static void compile_table(struct abbrevs *table, const struct section *section)
{
    const struct unit shape = shape_of(table->key);
    const uint8_t *end = section->bytes + section->len;
    if (table->key / 8 >= section->len)
        return;
    for (const uint8_t *p = section->bytes + table->key / 8; p < end;) {
        struct abbrev abbrev = {.sibling = -1};
        uint64_t code = load_uleb(&p);
        if (!code)
            return;
        uint64_t tag = load_uleb(&p);
        abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
        abbrev.kind = (uint8_t)kind_of(tag);
        abbrev.has_children = *p++;
        if (code > CODES_MAX || code > section->len || !tag || !compile(table, &abbrev, &p, end, &shape) ||
            !set_row(table, code, &abbrev))
            break;
    }
    empty_table(table);
}

static bool make_room(struct dwarf *dwarf)
{
    size_t room = dwarf->table_room ? dwarf->table_room * 2 : 256;
    if (dwarf->table_count * 2 < dwarf->table_room)
        return true;
    struct abbrevs **tables = calloc(room, sizeof(*tables));
    if (!tables)
        return false;
    for (size_t i = 0; i < dwarf->table_room; i++) {
        struct abbrevs *table = dwarf->tables[i];
        for (size_t k = table ? table->key * 0x9e3779b97f4a7c15ull >> 40 : 0; table; k++)
            if (!tables[k & (room - 1)]) {
                tables[k & (room - 1)] = table;
                table = NULL;
            }
    }
    free(dwarf->tables);
    dwarf->tables = tables;
    dwarf->table_room = room;
    return true;
}

const struct abbrevs *abbrevs_want(struct dwarf *dwarf, uint64_t offset, const struct unit *shape)
{
    uint64_t key = key_of(offset, shape);
    if (!make_room(dwarf))
        return NULL;
    size_t k = key * 0x9e3779b97f4a7c15ull >> 40;
    while (dwarf->tables[k & (dwarf->table_room - 1)]) {
        struct abbrevs *table = dwarf->tables[k & (dwarf->table_room - 1)];
        if (table->key == key)
            return table;
        k++;
    }
    struct abbrevs *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->key = key;
    dwarf->tables[k & (dwarf->table_room - 1)] = table;
    dwarf->table_count++;
    return table;
}

struct compiling {
    const struct dwarf *dwarf;
    atomic_size_t next; /* next table; any thread, relaxed */
};

static void *compile_some(void *context)
{
    struct compiling *all = context;
    const struct dwarf *dwarf = all->dwarf;
    for (size_t i; (i = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed)) < dwarf->table_room;)
        if (dwarf->tables[i])
            compile_table(dwarf->tables[i], &dwarf->object->sections[MIRE_SECTION_ABBREV]);
    return NULL;
}

void abbrevs_compile(struct dwarf *dwarf, unsigned threads)
{
    struct compiling all = {.dwarf = dwarf};
    pthread_t others[THREADS_MAX];
    unsigned started = 0;
    while (started < THREADS_MAX && started + 1 < threads && dwarf->table_count > WORTH_A_THREAD * (started + 1) &&
           !pthread_create(&others[started], NULL, compile_some, &all))
        started++;
    compile_some(&all);
    while (started)
        pthread_join(others[--started], NULL);
}

void abbrevs_free_all(struct dwarf *dwarf)
{
    for (size_t i = 0; i < dwarf->table_room; i++) {
        if (dwarf->tables[i])
            empty_table(dwarf->tables[i]);
        free(dwarf->tables[i]);
    }
    free(dwarf->tables);
}
