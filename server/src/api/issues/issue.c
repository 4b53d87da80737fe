/* issue.c - one issue over a range: its numbers, how long its events were, and who has them. */
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/tickets/tickets.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/rows.h"
#include "rows/totals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIFT_REPORTS_MIN 20 /* below, a share says more about chance than about the issue */

static int put_durations(struct call *call, const struct event_totals *totals)
{
    struct json_writer *w = &call->json;
    struct bin *bins;
    size_t count;
    int rc = rows_durations(&bins, &count, call->arena, totals);

    json_write_open(w, "durations", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_i64(w, "from_ms", bins[i].from_ms);
        json_write_i64(w, "to_ms", bins[i].to_ms);
        json_write_i64(w, "reports", bins[i].reports);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return rc;
}

static void put_value(struct json_writer *w, const struct value_row *v)
{
    double share = (double)v->here / (double)v->here_total;

    json_write_open(w, NULL, '{');
    json_write_text(w, "key", v->key);
    json_write_i64(w, "reports", v->here);
    json_write_real(w, "share", share);
    if (v->here_total < LIFT_REPORTS_MIN || !v->all)
        json_write_null(w, "lift");
    else
        json_write_real(w, "lift", share * (double)v->all_total / (double)v->all);
    json_write_close(w, '}');
}

static void put_distribution(struct json_writer *w, const char *name, const struct value_row *values, size_t count)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "name", name);
    json_write_open(w, "values", '[');
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            put_value(w, &values[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static int put_distributions(struct call *call, const struct event_totals *totals)
{
    struct json_writer *w = &call->json;
    struct value_row *values, *tags;
    size_t count, tag_count;
    struct event_totals of_app;
    int rc = rows_event_totals_read(&of_app, call->tx, call->arena, &call->view, 0);

    if (rc == 0)
        rc = rows_values(&values, &count, call->arena, totals, &of_app);
    if (rc == 0)
        rc = rows_tag_values(&tags, &tag_count, call->arena, totals, &of_app);

    json_write_open(w, "distributions", '[');
    for (size_t n = 0; rc == 0 && n < MIRE_ISSUE_FACETS; n++)
        put_distribution(w, rows_issue_facets[n].name, values, count);
    for (size_t i = 0; rc == 0 && i < tag_count; i++)
        if (i == 0 || strcmp(tags[i - 1].name, tags[i].name) != 0)
            put_distribution(w, tags[i].name, tags, tag_count);
    json_write_close(w, ']');
    return rc;
}

static int put_lines(struct call *call)
{
    int bucket_s = part_bucket_s(&call->view.span);
    struct point *points;
    size_t count;
    int rc = rows_series_read(&points, &count, call->tx, call->arena, &call->view, call->issue, bucket_s);

    json_write_i64(&call->json, "bucket_s", bucket_s);
    if (rc == 0)
        part_series(&call->json, points, count);
    return rc ? rc : put_completeness(call, "event");
}

static int put_ticket(struct call *call)
{
    struct ticket_row ticket;
    int rc = rows_ticket_read(&ticket, call->tx, call->arena, call->view.app, call->issue);

    if (!rc || rc == READ_NONE)
        tickets_put(&call->json, "ticket", rc ? NULL : &ticket);
    return rc == READ_NONE ? 0 : rc;
}

static int answer_issue(struct call *call)
{
    struct json_writer *w = &call->json;
    struct issue_facts facts;
    struct event_totals totals;
    struct issue_summary *summary;
    int rc = call_summary(&summary, call);

    if (rc == 0)
        rc = rows_event_totals_read(&totals, call->tx, call->arena, &call->view, call->issue);
    if (rc != 0)
        return rc;
    rows_issue_facts(&facts, &totals);
    summary->totals.devices = llround(distinct_count(&totals.sums.devices));
    json_write_open(w, NULL, '{');
    part_range_kept(w, &call->view.span, facts.newest_us, summary->first_hour_us, facts.oldest_us);
    part_summary(w, "issue", summary);
    if (totals.is_sampled)
        json_write_i64(w, "newest_events", MIRE_NEWEST_EVENTS);
    json_write_i64(w, "p50_ms", facts.p50_ms);
    json_write_i64(w, "p95_ms", facts.p95_ms);
    json_write_i64(w, "killed", facts.killed);
    json_write_i64(w, "launch", facts.launch);
    json_write_i64(w, "foreground", facts.foreground);
    json_write_i64(w, "background", facts.background);
    json_write_i64(w, "many_threads", facts.many_threads);
    json_write_i64(w, "suppressed", facts.suppressed);
    json_write_real(w, "unresolved_share", facts.frames ? (double)facts.unresolved / (double)facts.frames : 0);
    if ((rc = put_durations(call, &totals)) || (rc = put_distributions(call, &totals)) || (rc = put_lines(call)) ||
        (rc = put_ticket(call)))
        return rc;
    json_write_close(w, '}');
    return 0;
}

int get_issue(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {.table = "distributions:values series:points durations completeness",
                                          .names = names,
                                          .has_app = true,
                                          .has_issue = true,
                                          .answer = answer_issue};
    return call_run(api, request, reply, &kind);
}
