/*
 * read_lists.c - the document's facts, verdicts and lists.
 */
#include "document/read.h"
#include "document/exit.h"
#include "document/facts.h"

enum bind_outcome document_lock(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    doc->lock.known = true;
    return facts_read(bind, &doc->lock, at, &facts_lock);
}

enum bind_outcome document_cpu(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    doc->cpu.known = true;
    return facts_read(bind, &doc->cpu, at, &facts_cpu);
}

enum bind_outcome document_disk(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    doc->disk.known = true;
    return facts_read(bind, &doc->disk, at, &facts_disk);
}

enum bind_outcome document_frames(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    doc->frames.known = true;
    return facts_read(bind, &doc->frames, at, &facts_frames);
}

enum bind_outcome document_exit(struct bind *bind, void *out, uint32_t at)
{
    return exit_read(bind, &((struct resolved *)out)->exit, at);
}

enum bind_outcome document_suppressed(struct bind *bind, void *out, uint32_t at)
{
    return facts_read(bind, &((struct resolved *)out)->suppressed, at, &facts_suppressed);
}

enum bind_outcome document_watched(struct bind *bind, void *out, uint32_t at)
{
    return facts_read(bind, &((struct resolved *)out)->thread, at, &facts_watched);
}

static enum bind_outcome read_state(struct bind *bind, void *out, uint32_t at)
{
    const char *text;
    enum bind_outcome outcome = bind_text(&text, bind, at, 1);
    if (!outcome && text[0])
        ((struct resolved_thread *)out)->state = text[0];
    return outcome;
}

enum bind_outcome document_threads(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        NUMBER(struct resolved_thread, tid, MIRE_BIND_U64, UINT64_MAX),
        TEXT(struct resolved_thread, name),
        TEXT(struct resolved_thread, role),
        NUMBER(struct resolved_thread, cpu_ms, MIRE_BIND_FACT, UINT64_MAX),
        NUMBER(struct resolved_thread, node, MIRE_BIND_U32, UINT32_MAX),
        {.name = "syscall",
         .want = MIRE_BIND_U32,
         .offset = offsetof(struct resolved_thread, syscall),
         .min = -1,
         .max = INT32_MAX},
        OTHER("state", read_state),
    };
    struct resolved *doc = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ITEMS_MAX);
    size_t count = outcome ? 0 : json_size(bind->json, at);

    struct resolved_thread *threads = arena_array(bind->arena, count, sizeof *threads);
    if (!threads)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count && !outcome; i++, element = json_next(bind->json, element)) {
        threads[i] = (struct resolved_thread){.name = "", .role = "", .state = '?', .syscall = -1};
        outcome = bind_object(bind, &threads[i], element, fields, COUNT(fields));
        if (!outcome && threads[i].node >= doc->node_count)
            outcome = bind_wrong(bind, "thread %zu points nowhere", i);
    }

    doc->threads = threads;
    doc->thread_count = count;
    return outcome;
}

enum bind_outcome document_facts(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {TEXT(struct resolved_fact, name), TEXT(struct resolved_fact, value)};
    struct resolved *doc = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ITEMS_MAX);
    size_t count = outcome ? 0 : json_size(bind->json, at);

    struct resolved_fact *facts = arena_array(bind->arena, count, sizeof *facts);
    if (!facts)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count && !outcome; i++, element = json_next(bind->json, element)) {
        facts[i] = (struct resolved_fact){"", ""};
        outcome = bind_object(bind, &facts[i], element, fields, COUNT(fields));
    }
    doc->facts = facts;
    doc->fact_count = count;
    return outcome;
}

enum bind_outcome document_cost(struct bind *bind, void *out, uint32_t at)
{
    return facts_read(bind, &((struct resolved *)out)->cost, at, &facts_cost);
}

static enum bind_outcome read_verdict(struct resolved_verdict *verdict, struct bind *bind, uint32_t at,
                                      const struct resolved *doc)
{
    static const struct bind_field fields[] = {
        NUMBER(struct resolved_verdict, location, MIRE_BIND_U32, UINT32_MAX),
        NUMBER(struct resolved_verdict, share_ppm, MIRE_BIND_U32, 1000000),
    };

    enum bind_outcome outcome = bind_object(bind, verdict, at, fields, COUNT(fields));
    if (!outcome && verdict->location >= doc->location_count)
        outcome = bind_wrong(bind, "points nowhere");
    verdict->known = true;
    return outcome;
}

enum bind_outcome document_blame(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    return read_verdict(&doc->blame, bind, at, doc);
}

enum bind_outcome document_verdict(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    return read_verdict(&doc->verdict, bind, at, doc);
}

enum bind_outcome document_holder(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        FLAG(struct resolved_holder, itself),
        {.name = "thread",
         .want = MIRE_BIND_U32,
         .offset = offsetof(struct resolved_holder, thread),
         .required = true,
         .min = -1,
         .max = INT32_MAX},
        {.name = "frame",
         .want = MIRE_BIND_U32,
         .offset = offsetof(struct resolved_holder, frame),
         .required = true,
         .min = -1,
         .max = INT32_MAX},
    };
    struct resolved *doc = out;
    struct resolved_holder *holder = &doc->holder;

    enum bind_outcome outcome = bind_object(bind, holder, at, fields, COUNT(fields));
    if (outcome || holder->thread < 0)
        return outcome;
    if ((size_t)holder->thread >= doc->thread_count)
        return bind_wrong(bind, "points nowhere");
    int32_t depth = 0;
    for (uint32_t node = doc->threads[holder->thread].node; node && depth <= holder->frame; depth++)
        node = doc->nodes[node].parent;
    return holder->frame < depth ? MIRE_BIND_OK : bind_wrong(bind, "points nowhere");
}

enum bind_outcome document_turns(struct bind *bind, void *out, uint32_t at)
{
    struct document_turn_columns {
        struct bind_column from_ms, count;
    } c = {0};
    static const struct bind_field fields[] = {
        COLUMN(struct document_turn_columns, from_ms, UINT32_MAX),
        COLUMN(struct document_turn_columns, count, UINT32_MAX),
    };
    struct resolved *doc = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (!outcome && c.count.count != c.from_ms.count)
        outcome = bind_wrong(bind, "columns differ in length");
    struct report_bucket *buckets = outcome ? NULL : arena_array(bind->arena, c.count.count, sizeof *buckets);
    if (outcome || !buckets)
        return outcome ? outcome : MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.count.count; i++)
        buckets[i] = (struct report_bucket){(uint32_t)c.from_ms.values[i], (uint32_t)c.count.values[i]};
    doc->buckets = buckets;
    doc->bucket_count = c.count.count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_part(struct resolved_part *out, struct bind *bind, const struct resolved *doc,
                                   uint32_t at)
{
    struct part {
        const char *part, *text;
        struct bind_column rules;
    } part = {"", "", {0}};
    static const struct bind_field fields[] = {
        TEXT(struct part, part),
        TEXT(struct part, text),
        COLUMN(struct part, rules, UINT32_MAX),
    };
    enum bind_outcome outcome = bind_object(bind, &part, at, fields, COUNT(fields));

    uint32_t *rules = arena_array(bind->arena, part.rules.count, sizeof *rules);
    if (!rules)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; !outcome && i < part.rules.count; i++) {
        rules[i] = (uint32_t)part.rules.values[i];
        if (rules[i] >= doc->rule_count)
            outcome = bind_wrong(bind, "a part of the key names no rule");
    }

    *out = (struct resolved_part){part.part, part.text, rules, part.rules.count};
    return outcome;
}

enum bind_outcome document_key(struct bind *bind, void *out, uint32_t at)
{
    struct resolved *doc = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ITEMS_MAX);
    size_t count = outcome ? 0 : json_size(bind->json, at);

    struct resolved_part *parts = arena_array(bind->arena, count, sizeof *parts);
    if (!parts)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count && !outcome; i++, element = json_next(bind->json, element))
        outcome = read_part(&parts[i], bind, doc, element);
    doc->parts = parts;
    doc->part_count = count;
    return outcome;
}
