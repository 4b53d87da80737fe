/*
 * changes.c - GET /api/v1/apps/{app}/changes: which issues happen more or less often per session than in the version
 * before, or than in the week before.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "base/fault.h"
#include "model/change.h"
#include "model/version.h"
#include "rows/hits.h"
#include "rows/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SESSIONS 1000 /* of a version that is compared without being asked for */
#define WEEK_S         (7 * 86400)
#define LISTED_MAX     100

/* One side of the comparison. */
struct side {
    struct view view;
    const char *version; /* NULL: all, of a time */
    struct session_sums sums;
    struct issue_hits *hits;
    size_t count;
};

struct compared {
    struct rate_change change;
    int64_t issue;
    double before_events, after_events;
};

static void only(struct side *side, struct arena *arena, const char *version)
{
    side->version = version;
    side->view.version = (struct filter){.with = arena_array(arena, 1, sizeof(char *)), .with_count = 1};
    if (side->view.version.with)
        side->view.version.with[0] = version;
    else
        side->view.version.with_count = 0;
}

/* The newest version that has enough sessions and is, if `below` is one, older than that. NULL: there is none. */
static const char *newest(const struct version_sessions *versions, size_t count, const char *below)
{
    for (size_t i = 0; i < count; i++)
        if (versions[i].sessions >= LEAST_SESSIONS && (!below || version_compare(versions[i].version, below) < 0))
            return versions[i].version;
    return NULL;
}

/* Which versions, or which weeks. *one: there is only one version. */
static int choose(struct side *before, struct side *after, bool *one, struct call *call)
{
    const char *against = request_query(call->request, "against");
    const struct filter *asked = &call->view.version;
    struct version_sessions *versions;
    struct view all = call->view;
    size_t count;

    before->view = after->view = call->view;
    if (against && !strcmp(against, "week")) {
        after->view.span.from_s = call->view.span.to_s - WEEK_S;
        before->view.span = (struct span){call->view.span.to_s - 2 * WEEK_S, call->view.span.to_s - WEEK_S};
        return 0;
    }
    if (asked->with_count > 1 || asked->without_count)
        return call_refuse(call, "v", "one version, which is compared with `against`");
    all.version = (struct filter){0};
    int rc = rows_version_sessions_read(&versions, &count, call->tx, call->arena, &all);
    if (rc)
        return rc;
    const char *now = asked->with_count ? asked->with[0] : newest(versions, count, NULL);
    const char *then = NULL;
    if (against)
        then = arena_strdup(call->arena, against);
    else if (now)
        then = newest(versions, count, now);
    *one = !now || !then;
    if (now)
        only(after, call->arena, now);
    if (then)
        only(before, call->arena, then);
    return 0;
}

static int look(struct side *side, struct call *call)
{
    struct session_point *points;
    size_t count;

    int rc = rows_sessions_read(&points, &count, call->tx, call->arena, &side->view, &(struct filter){0});
    if (!rc)
        rc = rows_hits_read(&side->hits, &side->count, call->tx, call->arena, &side->view);
    if (!rc && count)
        side->sums = points[0].sums;
    return rc;
}

static struct change_side change_side_of(const struct side *side, const struct issue_hits *hits)
{
    return (struct change_side){.reports = hits ? hits->reports : 0,
                                .devices = hits ? hits->devices : 0,
                                .hits = hits ? hits->hits : 0,
                                .hits_sq = hits ? hits->hits_sq : 0,
                                .sessions = side->sums.sessions,
                                .sessions_sq = side->sums.sessions_sq};
}

/* Both lists are in order of the issues' numbers. */
static size_t pair(struct compared *out, struct rate_change *changes, const struct side *before,
                   const struct side *after)
{
    size_t count = 0, b = 0, a = 0;

    while (b < before->count || a < after->count) {
        const struct issue_hits *then = b < before->count ? &before->hits[b] : NULL;
        const struct issue_hits *now = a < after->count ? &after->hits[a] : NULL;
        if (then && now && then->issue != now->issue) {
            if (then->issue < now->issue)
                now = NULL;
            else
                then = NULL;
        }
        changes[count] =
            (struct rate_change){.before = change_side_of(before, then), .after = change_side_of(after, now)};
        out[count++] = (struct compared){.issue = now ? now->issue : then->issue,
                                         .before_events = then ? then->events : 0,
                                         .after_events = now ? now->events : 0};
        b += then != NULL;
        a += now != NULL;
    }
    return count;
}

/* By how many hits a session it changed, at least. */
static double least(const struct rate_change *c)
{
    double before = c->before.hits / c->before.sessions, after = c->after.hits / c->after.sessions;

    if (c->verdict == CHANGE_NEW || c->verdict == CHANGE_WORSE)
        return c->low > 0 ? after * (1 - 1 / c->low) : after;
    return before * (1 - c->high);
}

static int rank(const struct rate_change *change)
{
    if (change->verdict >= CHANGE_BETTER)
        return 1;
    return change->verdict >= CHANGE_NEW ? 0 : 2;
}

/* Worse ones, then better ones, then the others; the largest change first. */
static int in_order(const void *a, const void *b)
{
    const struct rate_change *x = &((const struct compared *)a)->change, *y = &((const struct compared *)b)->change;
    int rank_x = rank(x), rank_y = rank(y);

    if (rank_x != rank_y)
        return rank_x - rank_y;
    if (rank_x == 2)
        return (x->p > y->p) - (x->p < y->p);
    return (least(x) < least(y)) - (least(x) > least(y));
}

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
    json_write_close(w, '}');
}

static void put_compared_side(struct json_writer *w, const char *key, const struct side *side)
{
    json_write_open(w, key, '{');
    if (side->version)
        json_write_text(w, "version", side->version);
    else
        json_write_null(w, "version");
    json_write_real(w, "sessions", side->sums.sessions);
    part_time(w, "from", side->view.span.from_s * 1000000);
    part_time(w, "to", side->view.span.to_s * 1000000);
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
    struct side before = {0}, after = {0};
    bool one = false;

    int rc = choose(&before, &after, &one, call);
    if (!rc && !one)
        rc = look(&before, call);
    if (!rc && !one)
        rc = look(&after, call);
    if (rc)
        return rc;
    size_t room = before.count + after.count + 1;
    struct compared *list = arena_array(call->arena, room, sizeof *list);
    struct rate_change *changes = arena_array(call->arena, room, sizeof *changes);
    if (!list || !changes)
        return MIRE_FAULT_MEMORY;
    size_t count = pair(list, changes, &before, &after);
    rc = change_judge(call->arena, changes, count);
    for (size_t i = 0; i < count; i++)
        list[i].change = changes[i];
    qsort(list, count, sizeof *list, in_order);
    json_write_open(&call->json, NULL, '{');
    put_compared_side(&call->json, "before", &before);
    put_compared_side(&call->json, "after", &after);
    if (!rc)
        rc = put_listed(call, list, count);
    json_write_close(&call->json, '}');
    return rc;
}

int get_changes(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "kind", "against", NULL};
    static const struct call_kind kind = {.names = names, .has_app = true, .answer = answer_changes};

    return call_run(api, request, reply, &kind);
}
