/* report_facts.c - one report without its stacks. */
#include "api/reports/report.h"
#include "document/exit.h"
#include "document/facts.h"

void report_fact(struct json_writer *w, const char *key, struct fact fact)
{
    if (fact.known)
        json_write_u64(w, key, fact.value);
    else
        json_write_null(w, key);
}

static void put_index(struct json_writer *w, const char *key, int32_t index)
{
    if (index < 0)
        json_write_null(w, key);
    else
        json_write_i64(w, key, index);
}

/* The lock, and its holder if the threads show it. */
static void put_lock(struct json_writer *w, const struct resolved *doc)
{
    const struct resolved_holder *holder = &doc->holder;

    if (!doc->lock.known && holder->thread < 0) {
        json_write_null(w, "lock");
        return;
    }
    json_write_open(w, "lock", '{');
    report_fact(w, "owner_tid", doc->lock.owner_tid);
    json_write_bool(w, "itself", holder->itself);
    put_index(w, "thread", holder->thread);
    put_index(w, "frame", holder->frame);
    json_write_close(w, '}');
}

/* The facts of one cause, or null without one. */
static void put_cause(struct json_writer *w, const char *key, bool known, const void *facts,
                      const struct bind_table *table)
{
    if (known)
        bind_write_object(w, key, facts, table, MIRE_BIND_NULL);
    else
        json_write_null(w, key);
}

static void put_watched(struct json_writer *w, const struct report_watched *t)
{
    json_write_open(w, "thread", '{');
    json_write_u64(w, "tid", t->tid.value);
    json_write_text(w, "name", t->name);
    report_fact(w, "cpu_ms", t->cpu_ms);
    report_fact(w, "voluntary_switches", t->voluntary_switches);
    report_fact(w, "major_faults", t->major_faults);
    report_fact(w, "read_bytes", t->read_bytes);
    json_write_close(w, '}');
}

void report_event(struct json_writer *w, const struct resolved *doc)
{
    json_write_text(w, "trigger", doc->trigger);
    json_write_text(w, "name", doc->name);
    json_write_text(w, "gate", gate_name(doc->gate));
    json_write_bool(w, "launch", doc->launch);
    if (doc->foreground_known)
        json_write_bool(w, "foreground", doc->foreground);
    else
        json_write_null(w, "foreground");
    json_write_i64(w, "threshold_ms", doc->threshold_ms);
    json_write_u64(w, "late_ms", doc->late_ms);
    json_write_u64(w, "suspended_ms", doc->suspended_ms);
    json_write_u64(w, "begin_slack_ms", doc->begin_slack_ms);
    json_write_text(w, "guess", doc->guess);
    put_lock(w, doc);
    put_cause(w, "cpu", doc->cpu.known, &doc->cpu, &facts_cpu);
    put_cause(w, "disk", doc->disk.known, &doc->disk, &facts_disk);
    put_cause(w, "frames", doc->frames.known, &doc->frames, &facts_frames);
    json_write_open(w, "suppressed", '{');
    json_write_u64(w, "count", doc->suppressed.count);
    json_write_u64(w, "duration_ms", doc->suppressed.duration_ms.value);
    json_write_close(w, '}');
    put_watched(w, &doc->thread);
    if (doc->exit.known)
        exit_write(w, "exit", &doc->exit);
    else
        json_write_null(w, "exit");
}

static void put_verdict(struct json_writer *w, const char *key, const struct resolved *doc,
                        const struct resolved_verdict *verdict)
{
    if (!verdict->known) {
        json_write_null(w, key);
        return;
    }
    json_write_open(w, key, '{');
    report_frame(w, "frame", &doc->locations[verdict->location], 0);
    json_write_real(w, "share", verdict->share_ppm / 1e6);
    json_write_close(w, '}');
}

void report_verdicts(struct json_writer *w, const struct resolved *doc)
{
    put_verdict(w, "verdict", doc, &doc->verdict);
    put_verdict(w, "blame", doc, &doc->blame);
}

void report_facts_list(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "facts", '[');
    for (size_t i = 0; i < doc->fact_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", doc->facts[i].name);
        json_write_text(w, "value", doc->facts[i].value);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

void report_rest(struct json_writer *w, const struct resolved *doc)
{
    report_facts_list(w, doc);
    bind_write_object(w, "cost", &doc->cost, &facts_cost, MIRE_BIND_NULL);
    json_write_open(w, "turns", '[');
    for (size_t i = 0; i < doc->bucket_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_u64(w, "from_ms", doc->buckets[i].from_ms);
        json_write_u64(w, "turns", doc->buckets[i].count);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}
