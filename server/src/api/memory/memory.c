/* memory.c - the memory of one process: categories, the stacks that allocated it, and the suspects with their
 * reasons. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/reports/report.h"
#include "document/exit.h"
#include "document/facts.h"
#include "rows/reports.h"

#include <string.h>

static void put_numbers(struct json_writer *w, const struct memory *memory)
{
    if (memory->footprint_from && memory->footprint_from[0])
        json_write_text(w, "footprint_from", memory->footprint_from);
    else
        json_write_null(w, "footprint_from");
    bind_write(w, memory, &facts_memory, MIRE_BIND_NULL);
    json_write_u64(w, "held_bytes", memory->held_bytes);
    json_write_u64(w, "degraded_times", memory->degraded.times);
}

static void put_trail(struct json_writer *w, const struct memory *memory)
{
    json_write_open(w, "trail", '[');
    for (size_t i = 0; i < memory->point_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_u64(w, "at_ms", memory->trail[i].at_ms);
        json_write_u64(w, "footprint_bytes", memory->trail[i].footprint_bytes);
        report_fact(w, "available_bytes", memory->trail[i].available_bytes);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_healthy(struct json_writer *w, const struct memory *memory)
{
    if (memory->healthy_scope == MIRE_HEALTHY_NONE) {
        json_write_null(w, "healthy");
        return;
    }
    json_write_open(w, "healthy", '{');
    json_write_text(w, "scope", healthy_scope_name(memory->healthy_scope));
    json_write_u64(w, "reports", memory->healthy_reports);
    report_fact(w, "footprint_bytes", memory->healthy_footprint_bytes);
    json_write_close(w, '}');
}

static void put_growth(struct json_writer *w, const struct memory_growth *grown)
{
    if (grown->known) {
        json_write_i64(w, "grown_bytes", grown->bytes);
        json_write_i64(w, "grown_count", grown->count);
    } else {
        json_write_null(w, "grown_bytes");
        json_write_null(w, "grown_count");
    }
}

static void put_suspicion(struct json_writer *w, const struct memory_found *found)
{
    if (!found->rank) {
        json_write_null(w, "suspect");
        return;
    }
    json_write_open(w, "suspect", '{');
    json_write_u64(w, "rank", found->rank);
    json_write_text(w, "reason", memory_reason_name(found->reason));
    json_write_u64(w, "rule", found->rule);
    json_write_close(w, '}');
}

static void put_category(struct json_writer *w, const struct memory_category *c, const struct memory_found *found)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "name", c->name);
    json_write_text(w, "kind", memory_kind_name(c->kind));
    json_write_bool(w, "of_allocator", memory_is_of_allocator(c));
    json_write_u64(w, "held_bytes", c->held_bytes);
    json_write_u64(w, "live_bytes", c->live_bytes);
    json_write_u64(w, "live_count", c->live_count);
    report_fact(w, "total_bytes", c->total_bytes);
    report_fact(w, "total_count", c->total_count);
    report_fact(w, "peak_bytes", c->peak_bytes);
    report_fact(w, "peak_count", c->peak_count);
    report_fact(w, "error_bytes", c->error_bytes);
    report_fact(w, "error_count", c->error_count);
    report_fact(w, "stack_count", c->stack_count);
    put_growth(w, &c->grown);
    report_fact(w, "healthy_bytes", found->healthy_bytes);
    report_fact(w, "healthy_count", found->healthy_count);
    put_suspicion(w, found);
    json_write_close(w, '}');
}

static void put_categories(struct json_writer *w, const struct memory *memory)
{
    static const struct memory_found none;
    json_write_open(w, "categories", '[');
    for (size_t i = 0; i < memory->category_count; i++)
        put_category(w, &memory->categories[i], memory->found ? &memory->found[i] : &none);
    json_write_close(w, ']');
}

/* The stacks are one trie; a list of whole stacks would be many times as long. */
static void put_nodes(struct json_writer *w, const struct resolved *doc)
{
    report_rules(w, doc);
    json_write_open(w, "locations", '[');
    for (size_t i = 0; i < doc->location_count; i++)
        report_frame(w, NULL, &doc->locations[i], 0);
    json_write_close(w, ']');
    json_write_open(w, "nodes", '{');
    json_write_open(w, "parent", '[');
    for (size_t i = 1; i < doc->node_count; i++)
        json_write_u64(w, NULL, doc->nodes[i].parent);
    json_write_close(w, ']');
    json_write_open(w, "location", '[');
    for (size_t i = 1; i < doc->node_count; i++)
        json_write_u64(w, NULL, doc->nodes[i].location);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static void put_stacks(struct json_writer *w, const struct memory *memory)
{
    json_write_open(w, "stacks", '[');
    for (size_t i = 0; i < memory->stack_count; i++) {
        const struct memory_stack *s = &memory->stacks[i];
        json_write_open(w, NULL, '{');
        json_write_u64(w, "category", s->category);
        json_write_u64(w, "node", s->node);
        json_write_u64(w, "bytes", s->bytes);
        json_write_u64(w, "count", s->count);
        report_fact(w, "error_bytes", s->error_bytes);
        report_fact(w, "error_count", s->error_count);
        put_growth(w, &s->grown);
        if (s->caller1 < 0)
            json_write_null(w, "caller1");
        else
            json_write_i64(w, "caller1", s->caller1);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
}

static void put_memory(struct json_writer *w, const struct report_position *position, const struct resolved *doc)
{
    const struct memory *memory = &doc->memory;

    json_write_open(w, NULL, '{');
    report_position(w, position);
    json_write_text(w, "trigger", memory->trigger);
    json_write_text(w, "name", memory->name);
    json_write_text(w, "mode", memory->sampled ? "sampled" : "exact");
    if (memory->foreground_known)
        json_write_bool(w, "foreground", memory->foreground);
    else
        json_write_null(w, "foreground");
    put_numbers(w, memory);
    put_trail(w, memory);
    if (doc->exit.known)
        exit_write(w, "exit", &doc->exit);
    else
        json_write_null(w, "exit");
    put_healthy(w, memory);
    put_categories(w, memory);
    put_nodes(w, doc);
    put_stacks(w, memory);
    report_facts_list(w, doc);
    json_write_close(w, '}');
}

static int answer_memory(struct call *call)
{
    struct report_position position;
    struct resolved doc;

    int rc = report_find(&position, &doc, call);
    if (rc)
        return rc;
    if (!doc.memory.known && position.row.subject_bytes < 0)
        return call_missing(call, "This report of issue %.40s is not about memory.", request_param(call->request, 1));
    put_memory(&call->json, &position, &doc);
    return 0;
}

int get_memory(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {
        .table = "categories", .names = names, .has_app = true, .has_issue = true, .answer = answer_memory};
    return call_run(api, request, reply, &kind);
}
