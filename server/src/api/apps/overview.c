/* overview.c - all apps, and one app over a range: totals, versions, lines, what to filter by. */
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "model/category.h"
#include "rows/apps.h"
#include "rows/devices.h"
#include "rows/faceted.h"
#include "rows/issues.h"
#include "rows/totals.h"

#include <string.h>

static int answer_apps(struct call *call)
{
    struct json_writer *w = &call->json;
    struct app_row *apps;
    size_t count;
    struct apps_seen seen = call_seen(call->request);
    int rc = rows_apps_read(&apps, &count, call->tx, call->arena, &seen, call->api->now_us() - 86400000000);

    json_write_open(w, NULL, '{');
    json_write_open(w, "apps", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "slug", apps[i].slug);
        json_write_text(w, "name", apps[i].name);
        json_write_i64(w, "reports_24h", apps[i].reports_24h);
        part_time_or_null(w, "last_seen_at", apps[i].last_us);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

static void put_versions(struct json_writer *w, const struct sums *sums)
{
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < sums->version_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "version", sums->versions[i].version);
        part_time(w, "first_seen_at", sums->versions[i].first_us);
        part_counts(w, &sums->versions[i].totals);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static int put_top(struct call *call, const struct devices *devices, const char *key, const int64_t *issues,
                   size_t issue_count)
{
    struct issue_summary *top = NULL;
    size_t count = 0;
    int rc = 0;

    if (issue_count)
        rc = rows_summaries_read(&top, &count, call->tx, call->arena, &call->view, issues, issue_count);
    json_write_open(&call->json, key, '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        top[i].totals.devices = devices_of_issue(devices, top[i].issue);
        part_summary(&call->json, NULL, &top[i]);
    }
    json_write_close(&call->json, ']');
    return rc;
}

static int put_turns(struct call *call)
{
    struct json_writer *w = &call->json;
    struct turn *turns;
    size_t count;
    int rc = rows_turns_read(&turns, &count, call->tx, call->arena, &call->view);

    json_write_open(w, "turns", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_i64(w, "from_ms", turns[i].from_ms);
        json_write_real(w, "turns", turns[i].turns);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return rc;
}

static int put_shares(struct call *call, const char *key, enum rows_facet facet)
{
    struct facet_value *shares;
    size_t count;
    int rc = rows_facet_values_read(&shares, &count, call->tx, call->arena, &call->view, facet);

    if (rc == 0)
        part_facet(&call->json, key, shares, count);
    return rc;
}

/* The kinds idle and system are listed, but are neither in the totals nor ranked, also if they are asked for. */
static int put_apart(struct call *call)
{
    struct view all = call->view;
    struct facet_value *shares;
    size_t count, kept = 0;

    all.kind = (struct filter){0};
    int rc = rows_facet_values_read(&shares, &count, call->tx, call->arena, &all, ROWS_BY_KIND);
    for (size_t i = 0; !rc && i < count; i++)
        for (int kind = 0; kind < MIRE_CATEGORY_COUNT; kind++)
            if (category_is_apart((enum event_category)kind) &&
                !strcmp(category_name((enum event_category)kind), shares[i].key))
                shares[kept++] = shares[i];
    if (!rc)
        part_facet(&call->json, "apart", shares, kept);
    return rc;
}

/* Reports whose new values were put aside, by kind of value. */
static void put_aside(struct json_writer *w, const int64_t reports[MIRE_KNOWN_KINDS])
{
    json_write_open(w, "put_aside", '[');
    for (int kind = 0; kind < MIRE_KNOWN_KINDS; kind++) {
        if (!reports[kind])
            continue;
        json_write_open(w, NULL, '{');
        json_write_text(w, "kind", known_kinds[kind]);
        json_write_i64(w, "reports", reports[kind]);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

/* Devices of the issues that are listed, and of all events. */
static int read_devices(struct kept *out, struct call *call, const struct top *top)
{
    int64_t issues[2 * MIRE_TOP_MAX];
    size_t count = top->waited_count + top->memory_count;
    int rc = 0;

    memcpy(issues, top->waited, top->waited_count * sizeof *issues);
    memcpy(issues + top->waited_count, top->memory, top->memory_count * sizeof *issues);
    if (count)
        rc = rows_devices_read(out, call->tx, call->arena, &call->view, ROWS_BY_CATEGORY, issues, count);
    return rc ? rc : rows_devices_of_app(out, call->tx, call->arena, &call->view);
}

static int answer_overview(struct call *call)
{
    struct json_writer *w = &call->json;
    int bucket_s = part_bucket_s(&call->view.span);
    struct backlog backlog;
    struct kept kept = {0};
    struct sums sums;
    struct top top;
    int rc = rows_sums_read(&sums, call->tx, call->arena, &call->view, bucket_s);

    if (rc == 0)
        rc = rows_top(&top, call->tx, call->arena, &call->view);
    if (rc == 0)
        rc = read_devices(&kept, call, &top);
    if (rc == 0)
        rc = rows_backlog_read(&backlog, call->tx, &call->view);
    if (rc != 0)
        return rc;
    sums.totals.devices = kept.devices.total;
    json_write_open(w, NULL, '{');
    part_range_kept(w, &call->view.span, kept.newest_us, sums.first_hour_us, kept.oldest_us);
    part_totals(w, "totals", &sums.totals);
    json_write_i64(w, "waiting", backlog.waiting);
    json_write_i64(w, "dead_letters", backlog.dead_letters);
    json_write_i64(w, "over_quota", backlog.over_quota);
    put_aside(w, backlog.aside);
    part_facet(w, "categories", sums.kinds, sums.kind_count);
    rc = put_apart(call);
    put_versions(w, &sums);
    json_write_i64(w, "bucket_s", bucket_s);
    part_series(w, sums.points, sums.point_count);
    if (rc == 0)
        rc = put_completeness(call, "event");
    if (rc == 0)
        rc = put_turns(call);
    if (rc == 0)
        rc = put_top(call, &kept.devices, "top", top.waited, top.waited_count);
    if (rc == 0)
        rc = put_top(call, &kept.devices, "memory_top", top.memory, top.memory_count);
    json_write_close(w, '}');
    return rc;
}

/* The values of the facet that is asked for with `by`. */
static int put_values(struct call *call)
{
    const char *by = request_query(call->request, "by");
    struct facet_value *values;
    size_t count;
    int facet = 0;

    if (!by)
        return 0;
    while (facet < VIEW_FACETS && strcmp(view_facet_names[facet], by) != 0)
        facet++;
    if (facet == VIEW_FACETS)
        return call_refuse(call, "by", "os, os_version, model, class, channel");
    int rc = rows_faceted_values_read(&values, &count, call->tx, call->arena, &call->view, (enum view_facet)facet);
    if (!rc)
        part_facet(&call->json, "values", values, count > MIRE_FACET_MAX ? MIRE_FACET_MAX : count);
    return rc;
}

static int answer_facets(struct call *call)
{
    int rc;

    json_write_open(&call->json, NULL, '{');
    if ((rc = put_shares(call, "version", ROWS_BY_VERSION)) || (rc = put_shares(call, "kind", ROWS_BY_KIND)) ||
        (rc = put_shares(call, "state", ROWS_BY_STATE)) || (rc = put_values(call)))
        return rc;
    json_write_close(&call->json, '}');
    return 0;
}

int get_apps(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "apps", .answer = answer_apps};
    return call_run(api, request, reply, &kind);
}

int get_overview(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "kind", NULL};
    static const struct call_kind kind = {.table =
                                              "versions series:points categories turns top memory_top completeness",
                                          .names = names,
                                          .has_app = true,
                                          .answer = answer_overview};
    return call_run(api, request, reply, &kind);
}

int get_facets(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "by", NULL};
    static const struct call_kind kind = {
        .table = "version kind state", .names = names, .has_app = true, .answer = answer_facets};
    return call_run(api, request, reply, &kind);
}
