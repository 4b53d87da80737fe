/* populations.c - the memory of an issue's processes and of healthy ones: medians. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "rows/issues.h"
#include "rows/populations.h"
#include "rows/rollup_read.h"

#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

static void put_spread(struct json_writer *w, const char *key, const struct sketch *sketch, uint64_t all)
{
    json_write_open(w, key, '{');
    json_write_u64(w, "p50", sketch_quantile(sketch, all, 50));
    json_write_u64(w, "p90", sketch_quantile(sketch, all, 90));
    json_write_close(w, '}');
}

/* The footprint and the sum of all categories, or null if unknown. */
static void put_whole(struct json_writer *w, const struct population *p)
{
    json_write_u64(w, "reports", p->reports);
    put_spread(w, "footprint_bytes", &p->footprint, 0);
    put_spread(w, "held_bytes", &p->held, p->weight);
}

struct ranked_category {
    const struct population_category *category;
    uint64_t median;
};

static int by_suspicion(const void *a, const void *b)
{
    const struct ranked_category *x = a, *y = b;
    if (x->category->suspects != y->category->suspects)
        return x->category->suspects > y->category->suspects ? -1 : 1;
    if (x->median != y->median)
        return x->median > y->median ? -1 : 1;
    if (x->category->kind != y->category->kind)
        return x->category->kind < y->category->kind ? -1 : 1;
    return strcmp(x->category->name, y->category->name);
}

static void put_category(struct json_writer *w, const struct population *p, const struct population_category *c,
                         const struct population *healthy)
{
    const struct population_category *same = healthy ? population_find(healthy, c->kind, c->name) : NULL;

    json_write_open(w, NULL, '{');
    json_write_text(w, "name", c->name);
    json_write_text(w, "kind", memory_kind_name(c->kind));
    json_write_bool(w, "of_allocator",
                    memory_is_of_allocator(&(struct memory_category){.name = c->name, .kind = c->kind}));
    put_spread(w, "bytes", &c->bytes, p->weight);
    put_spread(w, "objects", &c->objects, p->weight);
    json_write_real(w, "suspect_share", p->weight ? (double)c->suspects / (double)p->weight : 0);
    if (healthy) {
        json_write_u64(w, "healthy_bytes", same ? sketch_quantile(&same->bytes, healthy->weight, 50) : 0);
        json_write_u64(w, "healthy_objects", same ? sketch_quantile(&same->objects, healthy->weight, 50) : 0);
    } else {
        json_write_null(w, "healthy_bytes");
        json_write_null(w, "healthy_objects");
    }
    json_write_close(w, '}');
}

/* The categories most often suspect first, then the largest. */
static int put_categories(struct call *call, const struct population *p, const struct population *healthy)
{
    struct ranked_category *ranked = arena_array(call->arena, p->count, sizeof *ranked);
    if (!ranked)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < p->count; i++)
        ranked[i] =
            (struct ranked_category){&p->categories[i], sketch_quantile(&p->categories[i].bytes, p->weight, 50)};
    if (p->count)
        qsort(ranked, p->count, sizeof *ranked, by_suspicion);
    json_write_open(&call->json, "categories", '[');
    for (size_t i = 0; i < p->count; i++)
        put_category(&call->json, p, ranked[i].category, healthy);
    json_write_close(&call->json, ']');
    return 0;
}

/* Sums are kept by UTC day: the range is widened to whole ones. */
static void put_days(struct json_writer *w, const struct span *span)
{
    part_time(w, "from", span->from_s / DAY_S * DAY_S * 1000000);
    part_time(w, "to", (span->to_s + DAY_S - 1) / DAY_S * DAY_S * 1000000);
}

/* Operating systems of the issue's reports in the range, of all versions. */
static int systems_of(const char ***out, size_t *count, struct call *call)
{
    struct view all = call->view;
    struct event_totals totals;

    all.version = (struct filter){0};
    int rc = rows_event_totals_read(&totals, call->tx, call->arena, &all, call->issue);
    *count = 0;
    *out = rc ? NULL : arena_array(call->arena, totals.cell.value_count + 1, sizeof **out);
    for (size_t i = 0; *out && i < totals.cell.value_count; i++)
        if (totals.cell.values[i].facet == MIRE_FACET_OS)
            (*out)[(*count)++] = totals.cell.values[i].text;
    return rc || *out ? rc : MIRE_FAULT_MEMORY;
}

static int answer_issue_memory(struct call *call)
{
    struct json_writer *w = &call->json;
    struct population own, healthy;
    struct issue_summary *summary;
    const char **systems = NULL;
    size_t system_count = 0;
    int rc = call_summary(&summary, call);

    if (rc == 0 && !summary->subject[0])
        return call_missing(call, "App %s has no issue of memory %.40s.", call->slug, request_param(call->request, 1));
    if (rc == 0)
        rc = rows_issue_memory_read(&own, call->tx, call->arena, &call->view, call->issue);
    if (rc == 0)
        rc = systems_of(&systems, &system_count, call);
    if (rc == 0)
        rc = rows_issue_healthy_read(&healthy, call->tx, call->arena, &call->view, call->issue, systems, system_count);
    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    put_days(w, &call->view.span);
    put_whole(w, &own);
    if (healthy.reports) {
        json_write_open(w, "healthy", '{');
        put_whole(w, &healthy);
        json_write_close(w, '}');
    } else {
        json_write_null(w, "healthy");
    }
    rc = put_categories(call, &own, healthy.reports ? &healthy : NULL);
    json_write_close(w, '}');
    return rc;
}

static int answer_healthy(struct call *call)
{
    struct json_writer *w = &call->json;
    const char *os = request_query(call->request, "os"), *class_name = request_query(call->request, "class");
    struct population healthy;
    struct healthy_row *rows;
    size_t count;
    int rc = rows_healthy_versions_read(&rows, &count, call->tx, call->arena, &call->view);

    if (rc == 0)
        rc = rows_healthy_read(&healthy, call->tx, call->arena, &call->view, os, class_name);
    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "version", rows[i].version);
        json_write_text(w, "os", rows[i].os);
        json_write_text(w, "device_class", rows[i].device_class);
        part_time(w, "last_at", rows[i].last_us);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    put_whole(w, &healthy);
    rc = put_categories(call, &healthy, NULL);
    json_write_close(w, '}');
    return rc;
}

int get_issue_memory(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {
        .table = "categories", .names = names, .has_app = true, .has_issue = true, .answer = answer_issue_memory};
    return call_run(api, request, reply, &kind);
}

int get_healthy(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"v", "os", "class", NULL};
    static const struct call_kind kind = {
        .table = "categories", .names = names, .has_app = true, .answer = answer_healthy};
    return call_run(api, request, reply, &kind);
}
