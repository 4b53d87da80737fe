/*
 * read.c - reads the resolved-stack document back: locations, nodes, samples. The rows are ours, yet every index is
 * checked: a bad row must not take the server with it.
 */
#include "document/read.h"
#include "document/memory.h"
#include "document/document.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PLAIN_MAX (64u << 20) /* bytes of a document, decompressed */

static enum bind_outcome read_gate(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    for (enum gate_kind gate = MIRE_GATE_NONE; gate <= MIRE_GATE_PING; gate++)
        if (json_kind(bind->json, at) == MIRE_JSON_STRING && json_is(bind->json, at, gate_name(gate)))
            doc->gate = gate;
    return MIRE_BIND_OK;
}

/* Can the column be of a table with so many rows? Its last value holds for all rows behind it. */
static bool fits(const struct bind_column *column, size_t rows)
{
    return column->count <= rows && (column->count || !rows);
}

static uint64_t value_of(const struct bind_column *column, size_t row)
{
    return column->values[row < column->count ? row : column->count - 1];
}

struct locations {
    struct resolved *doc;
    struct resolved_location *rows;
    struct bind_column line, offset, named, inlined, rule, mark, rules_version, rules_line;
    const char **rules_pack, **rules_text;
    size_t pack_count, text_count;
};

/* One of the text columns; `member` is where the text goes. */
static enum bind_outcome read_texts(struct locations *locations, struct bind *bind, uint32_t at, size_t member)
{
    enum bind_outcome outcome = bind_is_array(bind, at, ITEMS_MAX);
    if (outcome)
        return outcome;
    if (!locations->rows) {
        locations->doc->location_count = json_size(bind->json, at);
        locations->rows = arena_array(bind->arena, locations->doc->location_count, sizeof *locations->rows);
    }
    if (!locations->rows)
        return MIRE_BIND_NO_MEMORY;
    size_t count = json_size(bind->json, at);
    if (count > locations->doc->location_count || (!count && locations->doc->location_count))
        return bind_wrong(bind, "columns differ in length");
    uint32_t element = at + 1;
    const char *text = "";
    for (size_t i = 0; i < locations->doc->location_count && !outcome; i++) {
        if (i < count) {
            outcome = bind_text(&text, bind, element, FUNCTION_MAX);
            element = json_next(bind->json, element);
        }
        if (member == offsetof(struct resolved_location, role))
            locations->rows[i].role = role_of_name(text);
        else
            memcpy((char *)&locations->rows[i] + member, &text, sizeof(const char *));
    }

    return outcome;
}

static enum bind_outcome read_function(struct bind *bind, void *out, uint32_t at)
{
    return read_texts(out, bind, at, offsetof(struct resolved_location, function));
}

static enum bind_outcome read_image(struct bind *bind, void *out, uint32_t at)
{
    return read_texts(out, bind, at, offsetof(struct resolved_location, image));
}

static enum bind_outcome read_file(struct bind *bind, void *out, uint32_t at)
{
    return read_texts(out, bind, at, offsetof(struct resolved_location, file));
}

static enum bind_outcome read_role(struct bind *bind, void *out, uint32_t at)
{
    return read_texts(out, bind, at, offsetof(struct resolved_location, role));
}

static enum bind_outcome read_rules_pack(struct bind *bind, void *out, uint32_t at)
{
    struct locations *locations = out;
    return bind_texts(&locations->rules_pack, &locations->pack_count, bind, at, ITEMS_MAX, FUNCTION_MAX);
}

static enum bind_outcome read_rules_text(struct bind *bind, void *out, uint32_t at)
{
    struct locations *locations = out;
    return bind_texts(&locations->rules_text, &locations->text_count, bind, at, ITEMS_MAX, FUNCTION_MAX);
}

/* The rules, and which of them each location names; documents of before there were any have none. */
static enum bind_outcome read_rules(struct bind *bind, struct locations *locations)
{
    size_t count = locations->text_count;
    struct resolved_rule *rules = arena_array(bind->arena, count, sizeof *rules);

    if (!locations->rule.known)
        return MIRE_BIND_OK;
    if (!rules)
        return MIRE_BIND_NO_MEMORY;
    if (locations->pack_count != count || locations->rules_version.count != count ||
        locations->rules_line.count != count || !fits(&locations->rule, locations->doc->location_count) ||
        !fits(&locations->mark, locations->doc->location_count))
        return bind_wrong(bind, "columns differ in length");
    for (size_t i = 0; i < count; i++)
        rules[i] = (struct resolved_rule){locations->rules_pack[i], (int)locations->rules_version.values[i],
                                          (uint32_t)locations->rules_line.values[i], locations->rules_text[i]};
    for (size_t i = 0; i < locations->doc->location_count; i++) {
        locations->rows[i].rule = (uint32_t)value_of(&locations->rule, i);
        locations->rows[i].mark = (uint32_t)value_of(&locations->mark, i);
        if (locations->rows[i].rule > count || locations->rows[i].mark > count)
            return bind_wrong(bind, "location %zu names no rule", i);
    }

    locations->doc->rules = rules;
    locations->doc->rule_count = count;
    return MIRE_BIND_OK;
}

#define RULES_COLUMN(member, most)                                                                            \
    {                                                                                                         \
        .name = #member, .want = MIRE_BIND_COLUMN, .offset = offsetof(struct locations, member), .max = most, \
        .items_max = ITEMS_MAX                                                                                \
    }

static enum bind_outcome read_places(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {.name = "function", .want = MIRE_BIND_OTHER, .read = read_function, .required = true},
        {.name = "image", .want = MIRE_BIND_OTHER, .read = read_image, .required = true},
        {.name = "file", .want = MIRE_BIND_OTHER, .read = read_file, .required = true},
        COLUMN(struct locations, line, UINT32_MAX),
        COLUMN(struct locations, offset, UINT64_MAX),
        COLUMN(struct locations, named, 1),
        COLUMN(struct locations, inlined, 1),
        {.name = "role", .want = MIRE_BIND_OTHER, .read = read_role, .required = true},
        RULES_COLUMN(rule, UINT32_MAX),
        RULES_COLUMN(mark, UINT32_MAX),
        OTHER("rules_pack", read_rules_pack),
        RULES_COLUMN(rules_version, INT32_MAX),
        RULES_COLUMN(rules_line, UINT32_MAX),
        OTHER("rules_text", read_rules_text),
    };
    struct resolved *doc = out;
    struct locations locations = {.doc = doc};
    enum bind_outcome outcome = bind_object(bind, &locations, at, fields, COUNT(fields));
    size_t count = doc->location_count;

    if (outcome)
        return outcome;
    if (!fits(&locations.line, count) || !fits(&locations.offset, count) || !fits(&locations.named, count) ||
        !fits(&locations.inlined, count))
        return bind_wrong(bind, "columns differ in length");
    for (size_t i = 0; i < count; i++) {
        locations.rows[i].line = (uint32_t)value_of(&locations.line, i);
        locations.rows[i].offset = value_of(&locations.offset, i);
        locations.rows[i].named = value_of(&locations.named, i);
        locations.rows[i].inlined = value_of(&locations.inlined, i);
    }

    doc->locations = locations.rows;
    return read_rules(bind, &locations);
}

static enum bind_outcome read_nodes(struct bind *bind, void *out, uint32_t at)
{
    struct document_node_columns {
        struct bind_column parent, location;
    } columns = {0};
    static const struct bind_field fields[] = {
        COLUMN(struct document_node_columns, parent, UINT32_MAX),
        COLUMN(struct document_node_columns, location, UINT32_MAX),
    };
    struct resolved *doc = out;

    enum bind_outcome outcome = bind_object(bind, &columns, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    size_t count = columns.parent.count;
    struct resolved_node *nodes = arena_array(bind->arena, count + 1, sizeof *nodes);
    if (!nodes)
        return MIRE_BIND_NO_MEMORY;
    if (!fits(&columns.location, count))
        return bind_wrong(bind, "columns differ in length");
    for (size_t i = 0; i < count; i++) {
        uint64_t location = value_of(&columns.location, i);
        if (columns.parent.values[i] > i || location >= doc->location_count)
            return bind_wrong(bind, "node %zu points nowhere", i + 1);
        nodes[i + 1] = (struct resolved_node){(uint32_t)columns.parent.values[i], (uint32_t)location};
    }

    doc->nodes = nodes;
    doc->node_count = count + 1;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_samples(struct bind *bind, void *out, uint32_t at)
{
    struct document_sample_columns {
        uint32_t period_ms;
        struct bind_column at_ms, weight_ms, node, state, loss, folded, skipped, syscall, thread;
    } c = {0};
/* Not in documents of old. */
#define LATER(column, most)                                                                                    \
    {                                                                                                          \
        .name = #column, .want = MIRE_BIND_COLUMN, .offset = offsetof(struct document_sample_columns, column), \
        .max = (most), .items_max = ITEMS_MAX                                                                  \
    }
    static const struct bind_field fields[] = {
        NUMBER(struct document_sample_columns, period_ms, MIRE_BIND_U32, UINT32_MAX),
        COLUMN(struct document_sample_columns, at_ms, UINT32_MAX),
        COLUMN(struct document_sample_columns, weight_ms, UINT32_MAX),
        COLUMN(struct document_sample_columns, node, UINT32_MAX),
        COLUMN(struct document_sample_columns, state, 127),
        LATER(loss, 127),
        LATER(folded, UINT32_MAX),
        LATER(skipped, UINT32_MAX),
        LATER(thread, UINT32_MAX),
        {.name = "syscall",
         .want = MIRE_BIND_COLUMN,
         .offset = offsetof(struct document_sample_columns, syscall),
         .min = -1,
         .max = INT32_MAX,
         .items_max = ITEMS_MAX},
    };
#undef LATER
    struct resolved *doc = out;
    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    size_t count = c.at_ms.count;
    struct report_sample *samples = arena_array(bind->arena, count, sizeof *samples);
    if (!samples)
        return MIRE_BIND_NO_MEMORY;
    if (!fits(&c.weight_ms, count) || !fits(&c.node, count) || !fits(&c.state, count) ||
        (c.loss.known && !fits(&c.loss, count)) || (c.folded.known && !fits(&c.folded, count)) ||
        (c.skipped.known && !fits(&c.skipped, count)) || (c.syscall.known && !fits(&c.syscall, count)) ||
        (c.thread.known && !fits(&c.thread, count)))
        return bind_wrong(bind, "columns differ in length");
    for (size_t i = 0; i < count; i++) {
        samples[i] = (struct report_sample){.at_ms = (uint32_t)c.at_ms.values[i],
                                            .weight_ms = (uint32_t)value_of(&c.weight_ms, i),
                                            .node = (uint32_t)value_of(&c.node, i),
                                            .state = (char)value_of(&c.state, i),
                                            .syscall = c.syscall.known ? (int32_t)value_of(&c.syscall, i) : -1,
                                            .thread = c.thread.known ? (uint32_t)value_of(&c.thread, i) : 0,
                                            .loss = c.loss.known ? (char)value_of(&c.loss, i) : '.',
                                            .folded = c.folded.known ? (uint32_t)value_of(&c.folded, i) : 0,
                                            .skipped = c.skipped.known ? (uint32_t)value_of(&c.skipped, i) : 0};
        if (samples[i].node >= doc->node_count || samples[i].thread > doc->thread_count)
            return bind_wrong(bind, "sample %zu points nowhere", i);
    }

    doc->period_ms = c.period_ms;
    doc->samples = samples;
    doc->sample_count = count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_hot(struct bind *bind, void *out, uint32_t at)
{
    struct document_hot {
        uint32_t node, run, caller1, caller2, thread;
        struct bind_column repeat;
    } hot = {0};
    static const struct bind_field fields[] = {
        NUMBER(struct document_hot, node, MIRE_BIND_U32, UINT32_MAX),
        NUMBER(struct document_hot, run, MIRE_BIND_U32, UINT32_MAX),
        NUMBER(struct document_hot, thread, MIRE_BIND_U32, UINT32_MAX),
        COLUMN(struct document_hot, repeat, UINT32_MAX),
        {.name = "caller1",
         .want = MIRE_BIND_U32,
         .offset = offsetof(struct document_hot, caller1),
         .required = true,
         .min = -1,
         .max = INT32_MAX},
        {.name = "caller2",
         .want = MIRE_BIND_U32,
         .offset = offsetof(struct document_hot, caller2),
         .required = true,
         .min = -1,
         .max = INT32_MAX},
    };
    struct resolved *doc = out;

    enum bind_outcome outcome = bind_object(bind, &hot, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    size_t depth = 0;
    if (hot.node >= doc->node_count || hot.thread > doc->thread_count)
        return bind_wrong(bind, "points nowhere");
    for (uint32_t node = hot.node; node; node = doc->nodes[node].parent)
        depth++;
    uint32_t *repeat = arena_array(bind->arena, depth, sizeof *repeat);
    if (!repeat)
        return MIRE_BIND_NO_MEMORY;
    if (hot.repeat.count != depth || (int32_t)hot.caller1 >= (int64_t)depth || (int32_t)hot.caller2 >= (int64_t)depth)
        return bind_wrong(bind, "does not fit its stack");
    for (size_t i = 0; i < depth; i++)
        repeat[i] = (uint32_t)hot.repeat.values[i];
    doc->hot =
        (struct resolved_hot){hot.node, hot.thread, hot.run, depth, repeat, (int32_t)hot.caller1, (int32_t)hot.caller2};
    return MIRE_BIND_OK;
}

static enum bind_outcome read_version(struct bind *bind, void *out, uint32_t at)
{
    uint64_t version;
    (void)out;
    return bind_number(&version, bind, at, MIRE_RESOLVED_VERSION, MIRE_RESOLVED_VERSION);
}

static enum bind_outcome read_document(struct resolved *out, struct arena *arena, const struct json *json)
{
    static const struct bind_field fields[] = {
        {.name = "resolved", .want = MIRE_BIND_OTHER, .read = read_version, .required = true},
        TEXT(struct resolved, trigger),
        TEXT(struct resolved, name),
        OTHER("gate", read_gate),
        FLAG(struct resolved, launch),
        FLAG(struct resolved, foreground),
        FLAG(struct resolved, foreground_known),
        NUMBER(struct resolved, threshold_ms, MIRE_BIND_U32, UINT32_MAX),
        NUMBER(struct resolved, late_ms, MIRE_BIND_U64, UINT64_MAX),
        NUMBER(struct resolved, suspended_ms, MIRE_BIND_U64, UINT64_MAX),
        NUMBER(struct resolved, begin_slack_ms, MIRE_BIND_U64, UINT64_MAX),
        TEXT(struct resolved, guess),
        OTHER("lock", document_lock),
        OTHER("cpu", document_cpu),
        OTHER("disk", document_disk),
        OTHER("frames", document_frames),
        OTHER("suppressed", document_suppressed),
        OTHER("thread", document_watched),
        OTHER("exit", document_exit),
        {.name = "locations", .want = MIRE_BIND_OTHER, .read = read_places, .required = true},
        {.name = "nodes", .want = MIRE_BIND_OTHER, .read = read_nodes, .required = true},
        OTHER("key", document_key),
        OTHER("memory", memory_document_read),
        OTHER("threads", document_threads),
        {.name = "samples", .want = MIRE_BIND_OTHER, .read = read_samples, .required = true},
        {.name = "hot", .want = MIRE_BIND_OTHER, .read = read_hot, .required = true},
        OTHER("blame", document_blame),
        OTHER("verdict", document_verdict),
        TEXT(struct resolved, why),
        OTHER("holder", document_holder),
        OTHER("facts", document_facts),
        OTHER("cost", document_cost),
        OTHER("turns", document_turns),
    };
    struct bind_fault fault;
    struct bind bind = {.json = json, .arena = arena, .fault = &fault};
    return bind_object(&bind, out, 0, fields, COUNT(fields));
}

int resolved_decode(struct resolved *out, struct arena *arena, const unsigned char *bytes, size_t len)
{
    *out = (struct resolved){MIRE_RESOLVED_NOTHING};
    unsigned long long plain_len = ZSTD_getFrameContentSize(bytes, len);
    if (plain_len > PLAIN_MAX) /* the two error values are the largest */
        goto bad;
    char *plain = arena_alloc(arena, (size_t)plain_len + 1);
    if (!plain || ZSTD_decompress(plain, (size_t)plain_len, bytes, len) != plain_len)
        goto bad;
    struct json json;
    struct json_fault fault;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    json_init(&json);
    int outcome = json_read(&json, &fault, plain, (size_t)plain_len, &limits);
    if (!outcome)
        outcome = (int)read_document(out, arena, &json);
    json_fini(&json);
    if (!outcome)
        return 0;
bad:
    *out = (struct resolved){MIRE_RESOLVED_NOTHING};
    return -1;
}
