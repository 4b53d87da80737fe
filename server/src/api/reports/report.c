/* report.c - one report with its symbolicated stacks, found by name (latest, first, worst) or id. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "api/reports/report.h"
#include "document/document.h"
#include "model/resolved.h"
#include "rows/reports.h"
#include "rows/rows.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Counts of one document: the number of samples with each location (once a sample), and the distinct stacks of the
 * samples. */
struct tally {
    uint32_t *repeat;   /* per location */
    uint32_t *stack_of; /* per node: number of the stack that begins there + 1 */
    uint32_t *nodes;    /* per stack: its innermost node */
    size_t stack_count;
};

static int tally_fill(struct tally *t, struct arena *arena, const struct resolved *doc)
{
    uint32_t *seen = arena_array(arena, doc->location_count + 1, sizeof *seen);

    t->repeat = arena_array(arena, doc->location_count + 1, sizeof *t->repeat);
    t->stack_of = arena_array(arena, doc->node_count, sizeof *t->stack_of);
    t->nodes = arena_array(arena, doc->sample_count + 1, sizeof *t->nodes);
    if (!seen || !t->repeat || !t->stack_of || !t->nodes)
        return MIRE_FAULT_MEMORY;
    for (uint32_t s = 0; s < doc->sample_count; s++) {
        uint32_t node = doc->samples[s].node;
        if (node && !t->stack_of[node]) {
            t->nodes[t->stack_count] = node;
            t->stack_of[node] = (uint32_t)++t->stack_count;
        }
        for (uint32_t n = node; n; n = doc->nodes[n].parent) {
            uint32_t location = doc->nodes[n].location;
            t->repeat[location] += seen[location] != s + 1;
            seen[location] = s + 1;
        }
    }

    return 0;
}

/* Index into the answer's rules, or null. */
static void put_rule(struct json_writer *w, const char *key, uint32_t rule)
{
    if (rule)
        json_write_u64(w, key, rule - 1);
    else
        json_write_null(w, key);
}

static void put_key(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "key", '[');
    for (size_t i = 0; i < doc->part_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "part", doc->parts[i].part);
        json_write_text(w, "text", doc->parts[i].text);
        json_write_open(w, "rules", '[');
        for (size_t k = 0; k < doc->parts[i].rule_count; k++)
            json_write_u64(w, NULL, doc->parts[i].rules[k]);
        json_write_close(w, ']');
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

void report_rules(struct json_writer *w, const struct resolved *doc)
{
    json_write_text(w, "why", doc->why);
    put_key(w, doc);
    json_write_open(w, "rules", '[');
    for (size_t i = 0; i < doc->rule_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "pack", doc->rules[i].pack);
        json_write_i64(w, "version", doc->rules[i].version);
        json_write_u64(w, "line", doc->rules[i].line);
        json_write_text(w, "text", doc->rules[i].text);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

void report_frame(struct json_writer *w, const char *key, const struct resolved_location *p, uint32_t repeat)
{
    char offset[20];

    snprintf(offset, sizeof offset, "%" PRIx64, p->offset);
    json_write_open(w, key, '{');
    json_write_text(w, "function", p->function);
    json_write_text(w, "image", p->image);
    json_write_text(w, "file", p->file);
    json_write_i64(w, "line", p->line);
    json_write_text(w, "offset", offset);
    json_write_bool(w, "inlined", p->inlined);
    json_write_text(w, "role", role_name(p->role));
    json_write_i64(w, "repeat", repeat);
    put_rule(w, "rule", p->rule);
    put_rule(w, "mark", p->mark);
    json_write_close(w, '}');
}

static void put_frames(struct json_writer *w, const struct resolved *doc, const struct tally *tally, uint32_t node)
{
    json_write_open(w, "frames", '[');
    for (; node; node = doc->nodes[node].parent)
        report_frame(w, NULL, &doc->locations[doc->nodes[node].location], tally->repeat[doc->nodes[node].location]);
    json_write_close(w, ']');
}

static void put_index(struct json_writer *w, const char *key, int32_t index)
{
    if (index < 0)
        json_write_null(w, key);
    else
        json_write_i64(w, key, index);
}

static void put_hot(struct json_writer *w, const struct resolved *doc)
{
    size_t depth = 0;

    json_write_open(w, "hot", '{');
    json_write_open(w, "frames", '[');
    for (uint32_t n = doc->hot.node; n; n = doc->nodes[n].parent, depth++)
        report_frame(w, NULL, &doc->locations[doc->nodes[n].location],
                     depth < doc->hot.depth ? doc->hot.repeat[depth] : 0);
    json_write_close(w, ']');
    json_write_i64(w, "run", doc->hot.run);
    json_write_u64(w, "thread", doc->hot.thread);
    json_write_close(w, '}');
    put_index(w, "caller1", doc->hot.caller1);
    put_index(w, "caller2", doc->hot.caller2);
}

/*
 * Role of a sample: the role of its innermost frame. If that frame is a library's, it is the role of the first frame
 * before the app's code that takes a lock, reads or writes; if none does, of the outermost that waits. A wrapper of a
 * system call says less than its caller.
 */
static enum role role_of_sample(const struct resolved *doc, uint32_t node)
{
    enum role found = node ? doc->locations[doc->nodes[node].location].role : MIRE_ROLE_UNKNOWN;
    bool is_informative = found != MIRE_ROLE_UNKNOWN && found != MIRE_ROLE_SYSTEM && found != MIRE_ROLE_RUNTIME &&
                          found != MIRE_ROLE_WAIT;

    for (uint32_t n = node; n && !is_informative; n = doc->nodes[n].parent) {
        enum role role = doc->locations[doc->nodes[n].location].role;
        if (role == MIRE_ROLE_APP)
            break;
        is_informative = role == MIRE_ROLE_LOCK || role == MIRE_ROLE_IO;
        if (is_informative || role == MIRE_ROLE_WAIT)
            found = role;
    }
    return found;
}

static void put_samples(struct json_writer *w, const struct resolved *doc, const struct tally *tally)
{
    uint64_t covered_ms = 0;

    json_write_open(w, "samples", '{');
    json_write_i64(w, "period_ms", doc->period_ms);
    json_write_open(w, "at_ms", '[');
    for (size_t s = 0; s < doc->sample_count; s++)
        json_write_u64(w, NULL, doc->samples[s].at_ms);
    json_write_close(w, ']');
    json_write_open(w, "weight_ms", '[');
    for (size_t s = 0; s < doc->sample_count; covered_ms += doc->samples[s++].weight_ms)
        json_write_u64(w, NULL, doc->samples[s].weight_ms);
    json_write_close(w, ']');
    json_write_u64(w, "covered_ms", covered_ms);
    json_write_open(w, "leaf", '[');
    for (size_t s = 0; s < doc->sample_count; s++) {
        json_write_text(w, NULL, role_name(role_of_sample(doc, doc->samples[s].node)));
    }
    json_write_close(w, ']');
    json_write_open(w, "stack", '[');
    for (size_t s = 0; s < doc->sample_count; s++)
        json_write_i64(w, NULL, (int64_t)tally->stack_of[doc->samples[s].node] - 1);
    json_write_close(w, ']');
    json_write_open(w, "thread", '[');
    for (size_t s = 0; s < doc->sample_count; s++)
        json_write_u64(w, NULL, doc->samples[s].thread);
    json_write_close(w, ']');
    json_write_open(w, "stacks", '[');
    for (size_t i = 0; i < tally->stack_count; i++) {
        json_write_open(w, NULL, '{');
        put_frames(w, doc, tally, tally->nodes[i]);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    json_write_close(w, '}');
}

static void put_threads(struct json_writer *w, const struct resolved *doc, const struct tally *tally)
{
    json_write_open(w, "threads", '[');
    for (size_t i = 0; i < doc->thread_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_u64(w, "tid", doc->threads[i].tid);
        json_write_text(w, "name", doc->threads[i].name);
        json_write_text(w, "role", doc->threads[i].role);
        report_fact(w, "cpu_ms", doc->threads[i].cpu_ms);
        json_write_text(w, "state", (const char[]){doc->threads[i].state, 0});
        json_write_i64(w, "syscall", doc->threads[i].syscall);
        put_frames(w, doc, tally, doc->threads[i].node);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_id(struct json_writer *w, const char *key, bool known, const struct uuid *id)
{
    char text[MIRE_UUID_TEXT];

    if (!known) {
        json_write_null(w, key);
        return;
    }
    uuid_format(text, id);
    json_write_text(w, key, text);
}

void report_position(struct json_writer *w, const struct report_position *position)
{
    part_report_row(w, "row", &position->row);
    json_write_i64(w, "position", position->position);
    json_write_i64(w, "total", position->total);
    json_write_i64(w, "reports", position->reports);
    put_id(w, "previous", position->has_newer, &position->newer);
    put_id(w, "next", position->has_older, &position->older);
    json_write_text(w, "category", position->row.category);
    json_write_text(w, "reason", position->row.reason);
}

static int put_report(struct call *call, const struct report_position *position, const struct resolved *doc)
{
    struct json_writer *w = &call->json;
    struct tally tally = {0};

    if (tally_fill(&tally, call->arena, doc) != 0)
        return MIRE_FAULT_MEMORY;
    json_write_open(w, NULL, '{');
    report_position(w, position);
    report_event(w, doc);
    put_hot(w, doc);
    report_verdicts(w, doc);
    report_rules(w, doc);
    put_samples(w, doc, &tally);
    put_threads(w, doc, &tally);
    report_rest(w, doc);
    json_write_close(w, '}');
    return 0;
}

/* The document of a report that is counted only. */
static const struct resolved counted = {
    MIRE_RESOLVED_NOTHING,
    .node_count = 1,
    .nodes = &(const struct resolved_node){0},
    .hot = {.caller1 = -1, .caller2 = -1},
    .fact_count = 1,
    .facts = &(const struct resolved_fact){"Stacks", "are not kept: its issue and version had enough reports that day"},
};

struct decoding {
    struct resolved *doc;
    struct arena *arena;
};

/* A report with unreadable stacks still has its row: empty stacks, and a fact with the reason. */
static const struct resolved unreadable = {
    MIRE_RESOLVED_NOTHING,
    .node_count = 1,
    .nodes = &(const struct resolved_node){0},
    .hot = {.caller1 = -1, .caller2 = -1},
    .fact_count = 1,
    .facts =
        &(const struct resolved_fact){"Stacks", "cannot be read: they are gone, damaged or of another version of Mire"},
};

static int decode_one(void *context, double weight, const void *bytes, size_t len)
{
    struct decoding *d = context;

    (void)weight;
    if (resolved_decode(d->doc, d->arena, bytes, len) != 0)
        *d->doc = unreadable;
    return 0;
}

static int pick_of(enum rows_pick *pick, struct uuid *id, const char *name)
{
    static const char *const names[] = {[ROWS_LATEST] = "latest", [ROWS_FIRST] = "first", [ROWS_WORST] = "worst"};

    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *pick = (enum rows_pick)i;
            return 0;
        }
    *pick = ROWS_BY_ID;
    return text_is_uuid(name) && uuid_parse(id, name, MIRE_UUID_TEXT - 1) ? 0 : -1;
}

int report_find(struct report_position *position, struct resolved *doc, struct call *call)
{
    const char *name = request_param(call->request, 2);
    struct decoding decoding = {.doc = doc, .arena = call->arena};
    enum rows_pick pick;
    struct uuid id;

    *doc = unreadable;
    if (pick_of(&pick, &id, name) != 0) {
        call_missing(call, "\"%.*s\" is no report; name one by its id, latest, first or worst.", TEXT_CUT(name, 40));
        return CALL_REPLIED;
    }
    int rc = rows_report_read(position, call->tx, call->arena, &call->view, call->issue, pick, &id);
    if (rc == READ_NONE) {
        call_missing(call, "Issue %.40s of app %s has no such report in this range.", request_param(call->request, 1),
                     call->slug);
        return CALL_REPLIED;
    }
    if (rc == 0 && !position->row.kept)
        *doc = counted;
    else if (rc == 0)
        rc = rows_stacks_read(call->tx, &call->view, call->issue, &position->row.id, 1, decode_one, &decoding);
    return rc;
}

static int answer_report(struct call *call)
{
    struct report_position position;
    struct resolved doc;
    int rc = report_find(&position, &doc, call);
    return rc ? rc : put_report(call, &position, &doc);
}

int get_report(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {.names = names, .has_app = true, .has_issue = true, .answer = answer_report};
    return call_run(api, request, reply, &kind);
}
