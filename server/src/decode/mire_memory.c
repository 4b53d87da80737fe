/*
 * mire_memory.c - the section "memory": what the process held. Categories and stacks come in the device's order and
 * leave in ours: categories by what they hold, stacks by category and bytes.
 */
#include "decode/mire.h"
#include "document/facts.h"

#include <stdlib.h>
#include <string.h>

static enum bind_outcome read_mode_into(bool *sampled, struct bind *bind, uint32_t at)
{
    bool text = json_kind(bind->json, at) == MIRE_JSON_STRING;
    *sampled = text && json_is(bind->json, at, "sampled");
    if (*sampled || (text && json_is(bind->json, at, "exact")))
        return MIRE_BIND_OK;
    return bind_wrong(bind, "must be \"exact\" or \"sampled\"");
}

static enum bind_outcome read_mode(struct bind *bind, void *out, uint32_t at)
{
    return read_mode_into(&((struct memory *)out)->sampled, bind, at);
}

static enum bind_outcome read_asked_mode(struct bind *bind, void *out, uint32_t at)
{
    return read_mode_into(&((struct memory_degraded *)out)->sampled, bind, at);
}

static enum bind_outcome read_foreground(struct bind *bind, void *out, uint32_t at)
{
    enum json_kind kind = json_kind(bind->json, at);
    struct memory *memory = out;
    if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
        return bind_wrong(bind, "must be true or false");
    memory->foreground = kind == MIRE_JSON_TRUE;
    memory->foreground_known = true;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_trail(struct bind *bind, void *out, uint32_t at)
{
    struct trail_columns {
        struct bind_column at_ms, footprint, available;
    } c = {0};
    static const struct bind_field fields[] = {
        {REQUIRED(COLUMN(struct trail_columns, at_ms, MIRE_NAME_AT_MS, MIRE_WIRE_TRAIL_MAX, 0, UINT32_MAX))},
        {REQUIRED(
            COLUMN(struct trail_columns, footprint, MIRE_NAME_FOOTPRINT_BYTES, MIRE_WIRE_TRAIL_MAX, 0, UINT64_MAX))},
        {COLUMN(struct trail_columns, available, MIRE_NAME_AVAILABLE_BYTES, MIRE_WIRE_TRAIL_MAX, 0, UINT64_MAX)},
    };
    struct memory *memory = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (c.footprint.count != c.at_ms.count)
        return bind_wrong_at(bind, MIRE_NAME_FOOTPRINT_BYTES, UNEQUAL);
    if (c.available.known && c.available.count != c.at_ms.count)
        return bind_wrong_at(bind, MIRE_NAME_AVAILABLE_BYTES, UNEQUAL);
    struct memory_point *trail = arena_array(bind->arena, c.at_ms.count, sizeof *trail);
    if (!trail)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.at_ms.count; i++) {
        if (i && c.at_ms.values[i] < c.at_ms.values[i - 1])
            return bind_wrong_element(bind, MIRE_NAME_AT_MS, i, "must not fall");
        trail[i] = (struct memory_point){(uint32_t)c.at_ms.values[i], c.footprint.values[i], {0}};
        if (c.available.known)
            trail[i].available_bytes = (struct fact){c.available.values[i], true};
    }

    memory->trail = trail;
    memory->point_count = c.at_ms.count;
    return MIRE_BIND_OK;
}

struct text_list {
    const char **text;
    size_t count;
};

struct category_columns {
    struct text_list names;
    struct bind_column kind, live_count, live_bytes, resident, total_count, total_bytes, peak_count, peak_bytes;
    struct bind_column grown_count, grown_bytes, error_count, error_bytes, stack_count;
};

static enum bind_outcome read_names(struct bind *bind, void *out, uint32_t at)
{
    struct text_list *names = &((struct category_columns *)out)->names;

    return bind_texts(&names->text, &names->count, bind, at, MIRE_WIRE_CATEGORIES_MAX, MIRE_WIRE_TEXT_MAX);
}

#define WIDE(name, member, least, most) \
    COLUMN(struct category_columns, member, name, MIRE_WIRE_CATEGORIES_MAX, least, most)
#define SIGNED(name, member) WIDE(name, member, INT64_MIN, INT64_MAX)
#define PLAIN(name, member)  WIDE(name, member, 0, UINT64_MAX)

static const struct bind_field category_fields[] = {
    {REQUIRED(OTHER(MIRE_NAME_NAME, read_names))},
    {REQUIRED(WIDE(MIRE_NAME_KIND, kind, 0, MIRE_MEMORY_KIND_COUNT - 1))},
    {REQUIRED(PLAIN(MIRE_NAME_LIVE_COUNT, live_count))},
    {REQUIRED(PLAIN(MIRE_NAME_LIVE_BYTES, live_bytes))},
    {PLAIN(MIRE_NAME_RESIDENT_BYTES, resident)},
    {PLAIN(MIRE_NAME_TOTAL_COUNT, total_count)},
    {PLAIN(MIRE_NAME_TOTAL_BYTES, total_bytes)},
    {PLAIN(MIRE_NAME_PEAK_COUNT, peak_count)},
    {PLAIN(MIRE_NAME_PEAK_BYTES, peak_bytes)},
    {SIGNED(MIRE_NAME_GROWN_COUNT, grown_count)},
    {SIGNED(MIRE_NAME_GROWN_BYTES, grown_bytes)},
    {PLAIN(MIRE_NAME_ERROR_COUNT, error_count)},
    {PLAIN(MIRE_NAME_ERROR_BYTES, error_bytes)},
    {WIDE(MIRE_NAME_STACK_COUNT, stack_count, 0, UINT32_MAX)},
};

/* Every column that is there must have `count` elements. `columns` is the struct that the fields are of. */
static enum bind_outcome check_lengths(struct bind *bind, const void *columns, const struct bind_field *fields,
                                       size_t field_count, size_t count)
{
    for (size_t i = 0; i < field_count; i++) {
        const struct bind_column *column =
            (const struct bind_column *)(const void *)((const char *)columns + fields[i].offset);
        if (fields[i].want == MIRE_BIND_COLUMN && column->known && column->count != count)
            return bind_wrong_at(bind, fields[i].name, UNEQUAL);
    }
    return MIRE_BIND_OK;
}

static struct fact fact_at(const struct bind_column *column, size_t i)
{
    return column->known ? (struct fact){column->values[i], true} : (struct fact){0};
}

static struct memory_growth growth_at(const struct bind_column *bytes, const struct bind_column *count, size_t i)
{
    return (struct memory_growth){.known = bytes->known,
                                  .bytes = bytes->known ? (int64_t)bytes->values[i] : 0,
                                  .count = count->known ? (int64_t)count->values[i] : 0};
}

static struct memory_category category_at(const struct category_columns *c, size_t i)
{
    return (struct memory_category){
        .name = c->names.text[i],
        .kind = (enum memory_kind)c->kind.values[i],
        .live_count = c->live_count.values[i],
        .live_bytes = c->live_bytes.values[i],
        .held_bytes = c->resident.known ? c->resident.values[i] : c->live_bytes.values[i],
        .total_count = fact_at(&c->total_count, i),
        .total_bytes = fact_at(&c->total_bytes, i),
        .peak_count = fact_at(&c->peak_count, i),
        .peak_bytes = fact_at(&c->peak_bytes, i),
        .error_count = fact_at(&c->error_count, i),
        .error_bytes = fact_at(&c->error_bytes, i),
        .stack_count = fact_at(&c->stack_count, i),
        .grown = growth_at(&c->grown_bytes, &c->grown_count, i),
    };
}

static enum bind_outcome read_categories(struct bind *bind, void *out, uint32_t at)
{
    struct category_columns c = {0};
    struct memory *memory = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, category_fields, COUNT(category_fields));
    if (!outcome)
        outcome = check_lengths(bind, &c, category_fields, COUNT(category_fields), c.names.count);
    if (outcome)
        return outcome;
    struct memory_category *categories = arena_array(bind->arena, c.names.count, sizeof *categories);
    if (!categories)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.names.count; i++) {
        uint64_t held;
        categories[i] = category_at(&c, i);
        held = memory_is_beside(&categories[i]) ? 0 : categories[i].held_bytes;
        memory->held_bytes = held > UINT64_MAX - memory->held_bytes ? UINT64_MAX : memory->held_bytes + held;
    }

    memory->categories = categories;
    memory->category_count = c.names.count;
    return MIRE_BIND_OK;
}

struct stack_columns {
    struct bind_column category, node, count, bytes, total_count, total_bytes, error_count, error_bytes, grown_count,
        grown_bytes;
};

#define STACKS(name, member, least, most) COLUMN(struct stack_columns, member, name, MIRE_WIRE_STACKS_MAX, least, most)

static const struct bind_field stack_fields[] = {
    {REQUIRED(STACKS(MIRE_NAME_CATEGORY, category, 0, MIRE_WIRE_CATEGORIES_MAX - 1))},
    {REQUIRED(STACKS(MIRE_NAME_NODE, node, 0, UINT64_MAX))},
    {REQUIRED(STACKS(MIRE_NAME_COUNT, count, 0, UINT64_MAX))},
    {REQUIRED(STACKS(MIRE_NAME_BYTES, bytes, 0, UINT64_MAX))},
    {STACKS(MIRE_NAME_TOTAL_COUNT, total_count, 0, UINT64_MAX)},
    {STACKS(MIRE_NAME_TOTAL_BYTES, total_bytes, 0, UINT64_MAX)},
    {STACKS(MIRE_NAME_ERROR_COUNT, error_count, 0, UINT64_MAX)},
    {STACKS(MIRE_NAME_ERROR_BYTES, error_bytes, 0, UINT64_MAX)},
    {STACKS(MIRE_NAME_GROWN_COUNT, grown_count, INT64_MIN, INT64_MAX)},
    {STACKS(MIRE_NAME_GROWN_BYTES, grown_bytes, INT64_MIN, INT64_MAX)},
};

/* The memory lies inside its report. */
static const struct report *report_of(const void *memory)
{
    return (const struct report *)(const void *)((const char *)memory - offsetof(struct report, memory));
}

static enum bind_outcome read_stacks(struct bind *bind, void *out, uint32_t at)
{
    struct stack_columns c = {0};
    struct memory *memory = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, stack_fields, COUNT(stack_fields));
    if (!outcome)
        outcome = check_lengths(bind, &c, stack_fields, COUNT(stack_fields), c.category.count);
    if (outcome)
        return outcome;
    struct memory_stack *stacks = arena_array(bind->arena, c.category.count, sizeof *stacks);
    if (!stacks)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.category.count; i++) {
        if (c.category.values[i] >= memory->category_count)
            return bind_wrong_element(bind, MIRE_NAME_CATEGORY, i, "there is no such category");
        if (c.node.values[i] >= report_of(memory)->node_count)
            return bind_wrong_element(bind, MIRE_NAME_NODE, i, "there is no such node");
        stacks[i] = (struct memory_stack){.category = (uint32_t)c.category.values[i],
                                          .node = (uint32_t)c.node.values[i],
                                          .count = c.count.values[i],
                                          .bytes = c.bytes.values[i],
                                          .total_count = fact_at(&c.total_count, i),
                                          .total_bytes = fact_at(&c.total_bytes, i),
                                          .error_count = fact_at(&c.error_count, i),
                                          .error_bytes = fact_at(&c.error_bytes, i),
                                          .grown = growth_at(&c.grown_bytes, &c.grown_count, i),
                                          .caller1 = -1};
    }

    memory->stacks = stacks;
    memory->stack_count = c.category.count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_degraded(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct memory_degraded, times, MIRE_NAME_TIMES, MIRE_BIND_U64, 0, UINT32_MAX))},
        {FACT(struct memory_degraded, since_ns, MIRE_NAME_SINCE_NS)},
        {OTHER(MIRE_NAME_MODE, read_asked_mode)},
        {FACT(struct memory_degraded, interval_bytes, MIRE_NAME_INTERVAL_BYTES)},
    };
    return bind_object(bind, &((struct memory *)out)->degraded, at, fields, COUNT(fields));
}

static enum bind_outcome read_drops(struct bind *bind, void *out, uint32_t at)
{
    struct memory *memory = out;
    return mire_read_numbers(&memory->drops, &memory->drop_count, bind, at);
}

static enum bind_outcome read_cost(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {FACT(struct memory_cost, budget_bytes, MIRE_NAME_BUDGET_BYTES)},
        {FACT(struct memory_cost, used_bytes, MIRE_NAME_USED_BYTES)},
        {FACT(struct memory_cost, calls, MIRE_NAME_CALLS)},
        {FACT(struct memory_cost, stacks, MIRE_NAME_STACKS)},
        {FACT(struct memory_cost, build_us, MIRE_NAME_BUILD_US)},
    };
    return bind_object(bind, &((struct memory *)out)->cost, at, fields, COUNT(fields));
}

enum bind_outcome mire_read_memory(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(TEXT(struct memory, trigger, MIRE_NAME_TRIGGER))},
        {TEXT(struct memory, name, MIRE_NAME_NAME)},
        {REQUIRED(WHOLE(struct memory, taken_ns, MIRE_NAME_TAKEN_NS, MIRE_BIND_U64, 0, UINT64_MAX))},
        {FACT(struct memory, taken_wall_ms, MIRE_NAME_TAKEN_WALL_MS)},
        {OTHER(MIRE_NAME_FOREGROUND, read_foreground)},
        {REQUIRED(OTHER(MIRE_NAME_MODE, read_mode))},
        {TEXT(struct memory, footprint_from, MIRE_NAME_FOOTPRINT_FROM)},
        {OTHER(MIRE_NAME_TRAIL, read_trail)},
        {REQUIRED(OTHER(MIRE_NAME_CATEGORIES, read_categories))},
        {REQUIRED(OTHER(MIRE_NAME_STACKS, read_stacks))},
        {OTHER(MIRE_NAME_DEGRADED, read_degraded)},
        {OTHER(MIRE_NAME_DROPS, read_drops)},
        {OTHER(MIRE_NAME_COST, read_cost)},
    };
    struct report *report = out;

    enum bind_outcome outcome = bind_object(bind, &report->memory, at, fields, COUNT(fields));
    if (!outcome)
        outcome = facts_read(bind, &report->memory, at, &facts_memory);
    if (outcome)
        return outcome;
    report->memory.known = true;
    if (!strcmp(report->memory.trigger, "baseline"))
        report->kind = MIRE_REPORT_BASELINE;
    return memory_arrange(&report->memory, bind->arena) ? MIRE_BIND_NO_MEMORY : MIRE_BIND_OK;
}
