/*
 * read.c - reads the resolved-stack document back: the columns (columns_read.c), then the JSON, which points into them.
 * The rows are ours, yet every index is checked: a bad row must not take the server with it.
 */
#include "document/read.h"
#include "document/columns.h"
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

struct rule_columns {
    struct bind_column version, line;
    const char **packs, **texts;
    size_t pack_count, text_count;
};

static enum bind_outcome read_packs(struct bind *bind, void *out, uint32_t at)
{
    struct rule_columns *rules = out;
    return bind_texts(&rules->packs, &rules->pack_count, bind, at, ITEMS_MAX, FUNCTION_MAX);
}

static enum bind_outcome read_rule_texts(struct bind *bind, void *out, uint32_t at)
{
    struct rule_columns *rules = out;
    return bind_texts(&rules->texts, &rules->text_count, bind, at, ITEMS_MAX, FUNCTION_MAX);
}

static enum bind_outcome read_rules(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {.name = "pack", .want = MIRE_BIND_OTHER, .read = read_packs, .required = true},
        COLUMN(struct rule_columns, version, INT32_MAX),
        COLUMN(struct rule_columns, line, UINT32_MAX),
        {.name = "text", .want = MIRE_BIND_OTHER, .read = read_rule_texts, .required = true},
    };
    struct rule_columns columns = {0};
    struct resolved *doc = out;
    enum bind_outcome outcome = bind_object(bind, &columns, at, fields, COUNT(fields));
    size_t count = columns.text_count;

    if (outcome)
        return outcome;
    if (columns.pack_count != count || columns.version.count != count || columns.line.count != count)
        return bind_wrong(bind, "columns differ in length");
    struct resolved_rule *rules = arena_array(bind->arena, count + 1, sizeof *rules);
    if (!rules)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        rules[i] = (struct resolved_rule){columns.packs[i], (int)columns.version.values[i],
                                          (uint32_t)columns.line.values[i], columns.texts[i]};
    doc->rules = rules;
    doc->rule_count = count;
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
        {.name = "rules", .want = MIRE_BIND_OTHER, .read = read_rules, .required = true},
        OTHER("key", document_key),
        OTHER("memory", memory_document_read),
        OTHER("threads", document_threads),
        NUMBER(struct resolved, period_ms, MIRE_BIND_U32, UINT32_MAX),
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
    size_t json_len = strlen(plain); /* the arena ends it */
    if (json_len == plain_len ||
        columns_read(out, arena, (unsigned char *)plain + json_len + 1, (size_t)plain_len - json_len - 1))
        goto bad;
    struct json json;
    struct json_fault fault;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    json_init(&json);
    int outcome = json_read(&json, &fault, plain, json_len, &limits);
    if (!outcome)
        outcome = (int)read_document(out, arena, &json);
    json_fini(&json);
    if (!outcome && columns_fit(out))
        return 0;
bad:
    *out = (struct resolved){MIRE_RESOLVED_NOTHING};
    return -1;
}
