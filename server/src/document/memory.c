/*
 * memory.c - columns, as for the rest of the document. A number that was not told is left out; in a column it
 * is what a number cannot be: one column says which rows are known.
 */
#include "document/memory.h"
#include "document/facts.h"
#include "document/bindings.h"

#include <string.h>

static void write_fact(struct json_writer *w, const char *key, struct fact fact)
{
    if (fact.known)
        json_write_u64(w, key, fact.value);
}

/* The known facts of a category, as bits in the order of this list; growth is the last. */
enum { TOTAL = 1, PEAK = 2, ERROR = 4, STACKS = 8, GROWN = 16, HEALTHY = 32 };

static uint64_t known_of(const struct memory *memory, size_t i)
{
    const struct memory_category *c = &memory->categories[i];
    return (c->total_bytes.known ? TOTAL : 0) | (c->peak_bytes.known ? PEAK : 0) | (c->error_bytes.known ? ERROR : 0) |
           (c->stack_count.known ? STACKS : 0) | (c->grown.known ? GROWN : 0) |
           (memory->found && memory->found[i].healthy_bytes.known ? HEALTHY : 0);
}

static void write_categories(struct json_writer *w, const struct memory *memory)
{
    const struct memory_category *c = memory->categories;
    static const struct memory_found none;
    size_t count = memory->category_count;

    json_write_open(w, "categories", '{');
    JSON_WRITE_LIST(w, "name", text, count, c[i].name);
    JSON_WRITE_LIST(w, "kind", u64, count, c[i].kind);
    JSON_WRITE_LIST(w, "known", u64, count, known_of(memory, i));
    JSON_WRITE_LIST(w, "live_count", u64, count, c[i].live_count);
    JSON_WRITE_LIST(w, "live_bytes", u64, count, c[i].live_bytes);
    JSON_WRITE_LIST(w, "held_bytes", u64, count, c[i].held_bytes);
    JSON_WRITE_LIST(w, "total_count", u64, count, c[i].total_count.value);
    JSON_WRITE_LIST(w, "total_bytes", u64, count, c[i].total_bytes.value);
    JSON_WRITE_LIST(w, "peak_count", u64, count, c[i].peak_count.value);
    JSON_WRITE_LIST(w, "peak_bytes", u64, count, c[i].peak_bytes.value);
    JSON_WRITE_LIST(w, "error_count", u64, count, c[i].error_count.value);
    JSON_WRITE_LIST(w, "error_bytes", u64, count, c[i].error_bytes.value);
    JSON_WRITE_LIST(w, "stack_count", u64, count, c[i].stack_count.value);
    JSON_WRITE_LIST(w, "grown_count", i64, count, c[i].grown.count);
    JSON_WRITE_LIST(w, "grown_bytes", i64, count, c[i].grown.bytes);
#define FOUND (memory->found ? &memory->found[i] : &none)
    JSON_WRITE_LIST(w, "reason", u64, count, FOUND->reason);
    JSON_WRITE_LIST(w, "rank", u64, count, FOUND->rank);
    JSON_WRITE_LIST(w, "rule", u64, count, FOUND->rule);
    JSON_WRITE_LIST(w, "healthy_count", u64, count, FOUND->healthy_count.value);
    JSON_WRITE_LIST(w, "healthy_bytes", u64, count, FOUND->healthy_bytes.value);
#undef FOUND
    json_write_close(w, '}');
}

static void write_stacks(struct json_writer *w, const struct memory *memory)
{
    const struct memory_stack *s = memory->stacks;
    size_t count = memory->stack_count;

    json_write_open(w, "stacks", '{');
    JSON_WRITE_LIST(w, "category", u64, count, s[i].category);
    JSON_WRITE_LIST(w, "node", u64, count, s[i].node);
    JSON_WRITE_LIST(w, "count", u64, count, s[i].count);
    JSON_WRITE_LIST(w, "bytes", u64, count, s[i].bytes);
    if (count && s[0].error_bytes.known) {
        JSON_WRITE_LIST(w, "error_count", u64, count, s[i].error_count.value);
        JSON_WRITE_LIST(w, "error_bytes", u64, count, s[i].error_bytes.value);
    }
    JSON_WRITE_LIST(w, "known", u64, count, s[i].grown.known);
    JSON_WRITE_LIST(w, "grown_count", i64, count, s[i].grown.count);
    JSON_WRITE_LIST(w, "grown_bytes", i64, count, s[i].grown.bytes);
    JSON_WRITE_LIST(w, "caller1", i64, count, s[i].caller1);
    json_write_close(w, '}');
}

static void write_trail(struct json_writer *w, const struct memory *memory)
{
    const struct memory_point *t = memory->trail;
    json_write_open(w, "trail", '{');
    JSON_WRITE_LIST(w, "at_ms", u64, memory->point_count, t[i].at_ms);
    JSON_WRITE_LIST(w, "footprint_bytes", u64, memory->point_count, t[i].footprint_bytes);
    JSON_WRITE_LIST(w, "known", u64, memory->point_count, t[i].available_bytes.known);
    JSON_WRITE_LIST(w, "available_bytes", u64, memory->point_count, t[i].available_bytes.value);
    json_write_close(w, '}');
}

void memory_document_write(struct json_writer *w, const struct memory *memory)
{
    if (!memory->known)
        return;
    json_write_open(w, "memory", '{');
    json_write_text(w, "trigger", memory->trigger);
    json_write_text(w, "name", memory->name);
    json_write_u64(w, "taken_ns", memory->taken_ns);
    write_fact(w, "taken_wall_ms", memory->taken_wall_ms);
    json_write_bool(w, "foreground", memory->foreground);
    json_write_bool(w, "foreground_known", memory->foreground_known);
    json_write_bool(w, "sampled", memory->sampled);
    if (memory->footprint_from && memory->footprint_from[0])
        json_write_text(w, "footprint_from", memory->footprint_from);
    bind_write(w, memory, &facts_memory, MIRE_BIND_LEAVE_OUT);
    json_write_u64(w, "held_bytes", memory->held_bytes);
    json_write_u64(w, "degraded_times", memory->degraded.times);
    json_write_u64(w, "healthy_scope", memory->healthy_scope);
    json_write_u64(w, "healthy_reports", memory->healthy_reports);
    write_fact(w, "healthy_footprint_bytes", memory->healthy_footprint_bytes);
    write_trail(w, memory);
    write_categories(w, memory);
    write_stacks(w, memory);
    json_write_close(w, '}');
}

struct document_names {
    const char **text;
    size_t count;
};

struct document_category_columns {
    struct document_names names;
    struct bind_column kind, known, live_count, live_bytes, held_bytes, total_count, total_bytes, peak_count,
        peak_bytes;
    struct bind_column error_count, error_bytes, stack_count, grown_count, grown_bytes;
    struct bind_column reason, rank, rule, healthy_count, healthy_bytes;
};

static enum bind_outcome read_names(struct bind *bind, void *out, uint32_t at)
{
    struct document_names *names = &((struct document_category_columns *)out)->names;

    return bind_texts(&names->text, &names->count, bind, at, ITEMS_MAX, FUNCTION_MAX);
}

#define SIGNED(type, member)                                                                           \
    {                                                                                                  \
        .name = #member, .want = MIRE_BIND_COLUMN, .offset = offsetof(type, member), .min = INT64_MIN, \
        .max = INT64_MAX, .items_max = ITEMS_MAX, .required = true                                     \
    }

/* A column of documents of sampled reports; older ones do not have it. */
#define MAYBE(type, member)                                                                             \
    {                                                                                                   \
        .name = #member, .want = MIRE_BIND_COLUMN, .offset = offsetof(type, member), .max = UINT64_MAX, \
        .items_max = ITEMS_MAX                                                                          \
    }

/* All columns of a table that are there must be as long as its first. */
static bool differ(const void *columns, const struct bind_field *fields, size_t field_count, size_t count)
{
    for (size_t i = 0; i < field_count; i++) {
        const struct bind_column *column =
            (const struct bind_column *)(const void *)((const char *)columns + fields[i].offset);
        if (fields[i].want == MIRE_BIND_COLUMN && column->known && column->count != count)
            return true;
    }
    return false;
}

static struct fact fact_if(bool known, const struct bind_column *column, size_t i)
{
    return known ? (struct fact){column->values[i], true} : (struct fact){0};
}

static void category_at(struct memory_category *category, struct memory_found *found,
                        const struct document_category_columns *c, size_t i)
{
    uint64_t known = c->known.values[i];

    *category = (struct memory_category){
        .name = c->names.text[i],
        .kind = (enum memory_kind)c->kind.values[i],
        .live_count = c->live_count.values[i],
        .live_bytes = c->live_bytes.values[i],
        .held_bytes = c->held_bytes.values[i],
        .total_count = fact_if(known & TOTAL, &c->total_count, i),
        .total_bytes = fact_if(known & TOTAL, &c->total_bytes, i),
        .peak_count = fact_if(known & PEAK, &c->peak_count, i),
        .peak_bytes = fact_if(known & PEAK, &c->peak_bytes, i),
        .error_count = fact_if(known & ERROR, &c->error_count, i),
        .error_bytes = fact_if(known & ERROR, &c->error_bytes, i),
        .stack_count = fact_if(known & STACKS, &c->stack_count, i),
        .grown = {(known & GROWN) != 0, (int64_t)c->grown_bytes.values[i], (int64_t)c->grown_count.values[i]},
    };
    *found = (struct memory_found){
        .reason = (enum memory_reason)c->reason.values[i],
        .rank = (uint32_t)c->rank.values[i],
        .rule = (unsigned)c->rule.values[i],
        .healthy_count = fact_if(known & HEALTHY, &c->healthy_count, i),
        .healthy_bytes = fact_if(known & HEALTHY, &c->healthy_bytes, i),
    };
}

static enum bind_outcome read_categories(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        OTHER("name", read_names),
        COLUMN(struct document_category_columns, kind, MIRE_MEMORY_KIND_COUNT - 1),
        COLUMN(struct document_category_columns, known, 63),
        COLUMN(struct document_category_columns, live_count, UINT64_MAX),
        COLUMN(struct document_category_columns, live_bytes, UINT64_MAX),
        COLUMN(struct document_category_columns, held_bytes, UINT64_MAX),
        COLUMN(struct document_category_columns, total_count, UINT64_MAX),
        COLUMN(struct document_category_columns, total_bytes, UINT64_MAX),
        COLUMN(struct document_category_columns, peak_count, UINT64_MAX),
        COLUMN(struct document_category_columns, peak_bytes, UINT64_MAX),
        COLUMN(struct document_category_columns, error_count, UINT64_MAX),
        COLUMN(struct document_category_columns, error_bytes, UINT64_MAX),
        COLUMN(struct document_category_columns, stack_count, UINT32_MAX),
        SIGNED(struct document_category_columns, grown_count),
        SIGNED(struct document_category_columns, grown_bytes),
        COLUMN(struct document_category_columns, reason, MIRE_MEMORY_REASON_COUNT - 1),
        COLUMN(struct document_category_columns, rank, UINT32_MAX),
        COLUMN(struct document_category_columns, rule, UINT32_MAX),
        COLUMN(struct document_category_columns, healthy_count, UINT64_MAX),
        COLUMN(struct document_category_columns, healthy_bytes, UINT64_MAX),
    };
    struct document_category_columns c = {0};
    struct memory *memory = &((struct resolved *)out)->memory;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (differ(&c, fields, COUNT(fields), c.names.count))
        return bind_wrong(bind, "columns differ in length");
    struct memory_category *categories = arena_array(bind->arena, c.names.count, sizeof *categories);
    struct memory_found *found = arena_array(bind->arena, c.names.count, sizeof *found);
    if (!categories || !found)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.names.count; i++)
        category_at(&categories[i], &found[i], &c, i);
    memory->categories = categories;
    memory->found = found;
    memory->category_count = c.names.count;
    return MIRE_BIND_OK;
}

struct document_stack_columns {
    struct bind_column category, node, count, bytes, error_count, error_bytes, known, grown_count, grown_bytes, caller1;
};

static bool fits(const struct resolved *doc, const struct document_stack_columns *c, size_t i)
{
    int64_t caller1 = (int64_t)c->caller1.values[i];
    if (c->category.values[i] >= doc->memory.category_count || c->node.values[i] >= doc->node_count)
        return false;
    uint32_t node = (uint32_t)c->node.values[i];
    for (; caller1 > 0 && node; caller1--)
        node = doc->nodes[node].parent;
    return caller1 < 0 || node;
}

static enum bind_outcome read_stacks(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        COLUMN(struct document_stack_columns, category, UINT32_MAX),
        COLUMN(struct document_stack_columns, node, UINT32_MAX),
        COLUMN(struct document_stack_columns, count, UINT64_MAX),
        COLUMN(struct document_stack_columns, bytes, UINT64_MAX),
        MAYBE(struct document_stack_columns, error_count),
        MAYBE(struct document_stack_columns, error_bytes),
        COLUMN(struct document_stack_columns, known, 1),
        SIGNED(struct document_stack_columns, grown_count),
        SIGNED(struct document_stack_columns, grown_bytes),
        {.name = "caller1",
         .want = MIRE_BIND_COLUMN,
         .offset = offsetof(struct document_stack_columns, caller1),
         .required = true,
         .min = -1,
         .max = INT32_MAX,
         .items_max = ITEMS_MAX},
    };
    struct document_stack_columns c = {0};
    struct resolved *doc = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (differ(&c, fields, COUNT(fields), c.category.count))
        return bind_wrong(bind, "columns differ in length");
    struct memory_stack *stacks = arena_array(bind->arena, c.category.count, sizeof *stacks);
    if (!stacks)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.category.count; i++) {
        if (!fits(doc, &c, i) || (i && c.category.values[i] < c.category.values[i - 1]))
            return bind_wrong(bind, "stack %zu points nowhere, or is out of order", i);
        stacks[i] = (struct memory_stack){
            .category = (uint32_t)c.category.values[i],
            .node = (uint32_t)c.node.values[i],
            .count = c.count.values[i],
            .bytes = c.bytes.values[i],
            .error_count = fact_if(c.error_count.known, &c.error_count, i),
            .error_bytes = fact_if(c.error_bytes.known, &c.error_bytes, i),
            .grown = {c.known.values[i], (int64_t)c.grown_bytes.values[i], (int64_t)c.grown_count.values[i]},
            .caller1 = (int32_t)c.caller1.values[i],
        };
    }

    doc->memory.stacks = stacks;
    doc->memory.stack_count = c.category.count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_trail(struct bind *bind, void *out, uint32_t at)
{
    struct trail {
        struct bind_column at_ms, footprint_bytes, known, available_bytes;
    } c = {0};
    static const struct bind_field fields[] = {
        COLUMN(struct trail, at_ms, UINT32_MAX),
        COLUMN(struct trail, footprint_bytes, UINT64_MAX),
        COLUMN(struct trail, known, 1),
        COLUMN(struct trail, available_bytes, UINT64_MAX),
    };
    struct memory *memory = &((struct resolved *)out)->memory;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (differ(&c, fields, COUNT(fields), c.at_ms.count))
        return bind_wrong(bind, "columns differ in length");
    struct memory_point *trail = arena_array(bind->arena, c.at_ms.count, sizeof *trail);
    if (!trail)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.at_ms.count; i++)
        trail[i] = (struct memory_point){(uint32_t)c.at_ms.values[i], c.footprint_bytes.values[i],
                                         fact_if(c.known.values[i], &c.available_bytes, i)};
    memory->trail = trail;
    memory->point_count = c.at_ms.count;
    return MIRE_BIND_OK;
}

#define IN(key, member, how, most)                                                                \
    {                                                                                             \
        .name = key, .want = how, .offset = offsetof(struct resolved, memory.member), .max = most \
    }
#define KNOWN(member) IN(#member, member, MIRE_BIND_FACT, UINT64_MAX)
#define WHOLE(member) IN(#member, member, MIRE_BIND_U64, UINT64_MAX)

enum bind_outcome memory_document_read(struct bind *bind, void *document, uint32_t at)
{
    static const struct bind_field fields[] = {
        IN("trigger", trigger, MIRE_BIND_TEXT, FUNCTION_MAX),
        IN("name", name, MIRE_BIND_TEXT, FUNCTION_MAX),
        WHOLE(taken_ns),
        KNOWN(taken_wall_ms),
        IN("foreground", foreground, MIRE_BIND_BOOL, 0),
        IN("foreground_known", foreground_known, MIRE_BIND_BOOL, 0),
        IN("sampled", sampled, MIRE_BIND_BOOL, 0),
        IN("footprint_from", footprint_from, MIRE_BIND_TEXT, FUNCTION_MAX),
        WHOLE(held_bytes),
        IN("degraded_times", degraded.times, MIRE_BIND_U64, UINT64_MAX),
        IN("healthy_scope", healthy_scope, MIRE_BIND_U32, MIRE_HEALTHY_SCOPE_COUNT - 1),
        WHOLE(healthy_reports),
        KNOWN(healthy_footprint_bytes),
        OTHER("trail", read_trail),
        OTHER("categories", read_categories),
        OTHER("stacks", read_stacks),
    };
    struct resolved *doc = document;

    doc->memory = (struct memory){.known = true, .trigger = "", .name = "", .footprint_from = ""};
    enum bind_outcome outcome = bind_object(bind, doc, at, fields, COUNT(fields));
    return outcome ? outcome : facts_read(bind, &doc->memory, at, &facts_memory);
}
