/*
 * changes.c - GET /api/v1/apps/{app}/changes: which issues happen more or less often per session than in another version,
 * or than in another time (api/apps/compared.h).
 */
#include "api/apps/explained.h"
#include "api/apps/rates_part.h"
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "base/fault.h"

#include <math.h>
#include <string.h>

#define LISTED_MAX 100

static void put_number(struct json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        json_write_real(w, key, value);
    else
        json_write_null(w, key);
}

static void put_side(struct json_writer *w, const char *key, const struct change_side *side, double events)
{
    json_write_open(w, key, '{');
    json_write_i64(w, "reports", side->reports);
    json_write_i64(w, "devices", side->devices);
    json_write_real(w, "hits_per_1000", 1000 * side->hits / side->sessions);
    json_write_real(w, "events_per_1000", 1000 * events / side->sessions);
    json_write_close(w, '}');
}

static void put_why(struct json_writer *w, const struct compared_why *why)
{
    if (!why->facet) {
        json_write_null(w, "explained");
        return;
    }
    json_write_open(w, "explained", '{');
    json_write_text(w, "facet", why->facet);
    json_write_text(w, "value", why->value);
    json_write_real(w, "share", why->share);
    json_write_real(w, "of_others", why->of_others);
    json_write_bool(w, "sampled", why->is_sampled);
    json_write_close(w, '}');
}

static void put_change(struct json_writer *w, const struct compared *one, const struct issue_summary *summary)
{
    json_write_open(w, NULL, '{');
    part_summary(w, "issue", summary);
    json_write_text(w, "verdict", change_verdict_name(one->change.verdict));
    put_side(w, "before", &one->change.before, one->before_events);
    put_side(w, "after", &one->change.after, one->after_events);
    json_write_open(w, "ratio", '{');
    put_number(w, "value", one->change.ratio);
    put_number(w, "low", one->change.low);
    put_number(w, "high", one->change.high);
    json_write_close(w, '}');
    json_write_real(w, "q", one->change.q);
    put_why(w, &one->why);
    json_write_close(w, '}');
}

static void put_compared_side(struct json_writer *w, const char *key, const struct compared_side *side)
{
    json_write_open(w, key, '{');
    if (side->version)
        json_write_text(w, "version", side->version);
    else
        json_write_null(w, "version");
    json_write_real(w, "sessions", side->sums.sessions);
    part_time(w, "from", side->view.span.from_s * 1000000);
    part_time(w, "to", side->view.span.to_s * 1000000);
    json_write_open(w, "rates", '{');
    part_rates(w, &side->sums);
    part_spreads(w, &side->sessions.all);
    json_write_close(w, '}');
    json_write_close(w, '}');
}

static int put_listed(struct call *call, struct compared *list, size_t count)
{
    size_t listed = 0, few = 0;
    int64_t *issues = arena_array(call->arena, LISTED_MAX, sizeof *issues);
    struct issue_summary *summaries = NULL;
    size_t summary_count = 0;
    struct view all = call->view;

    if (!issues)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (list[i].change.verdict == CHANGE_FEW)
            few++;
        else if (listed < LISTED_MAX)
            issues[listed++] = list[i].issue;
    }
    all.version = (struct filter){0};
    int rc = listed ? rows_summaries_read(&summaries, &summary_count, call->tx, call->arena, &all, issues, listed) : 0;
    json_write_open(&call->json, "issues", '[');
    for (size_t i = 0, at = 0; !rc && i < count && at < summary_count; i++)
        if (list[i].issue == summaries[at].issue)
            put_change(&call->json, &list[i], &summaries[at++]);
    json_write_close(&call->json, ']');
    json_write_i64(&call->json, "more", (int64_t)(count - few - listed));
    json_write_i64(&call->json, "few", (int64_t)few);
    return rc;
}

static int answer_changes(struct call *call)
{
    const struct filter *asked = &call->view.version;
    const char *before = request_query(call->request, "before");
    const char *against = request_query(call->request, "against");
    struct comparison c;
    struct span span;

    if (before && span_parse(&span, before, call->api->now_us() / 1000000) != 0)
        return call_refuse(call, "before", "a range as of t, which t is compared with");
    if (before && against && !strcmp(against, "week"))
        return call_refuse(call, "before", "a range, or against=week; not both");
    if (asked->with_count > 1 || asked->without_count)
        return call_refuse(call, "v", "one version, which is compared with `against`");
    int rc = compared_read(&c, call, against, before ? &span : NULL);
    if (!rc)
        rc = explained_read(&c, call);
    if (rc)
        return rc;
    json_write_open(&call->json, NULL, '{');
    put_compared_side(&call->json, "before", &c.before);
    put_compared_side(&call->json, "after", &c.after);
    rc = put_listed(call, c.list, c.count);
    call->view.span = c.after.view.span;
    if (!rc)
        rc = put_completeness(call, "event");
    json_write_close(&call->json, '}');
    return rc;
}

int get_changes(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "kind", "against", "before", NULL};
    static const struct call_kind kind = {.table = "issues", .names = names, .has_app = true, .answer = answer_changes};

    return call_run(api, request, reply, &kind);
}
