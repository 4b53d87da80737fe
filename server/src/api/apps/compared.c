/* compared.c - see compared.h. */
#include "api/apps/compared.h"

#include "api/call.h"
#include "base/fault.h"
#include "model/version.h"
#include "rows/session_totals.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SESSIONS 1000 /* of a version that is compared without being asked for */
#define WEEK_S         (7 * 86400)

static void only(struct compared_side *side, struct arena *arena, const char *version)
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

/* Two ranges, of the versions that the view names; of another one before, if `against` is one. */
static void choose_ranges(struct compared_side *before, struct compared_side *after, struct call *call,
                          const char *against, const struct span *span)
{
    const struct filter *asked = &call->view.version;

    before->view.span = *span;
    if (asked->with_count == 1 && !asked->without_count)
        before->version = after->version = asked->with[0];
    if (against)
        only(before, call->arena, arena_strdup(call->arena, against));
}

/* The versions or ranges to compare. *one: there is only one version. */
static int choose(struct compared_side *before, struct compared_side *after, bool *one, struct call *call,
                  const char *against, const struct span *span)
{
    const struct filter *asked = &call->view.version;
    struct version_sessions *versions;
    struct view all = call->view;
    size_t count;

    before->view = after->view = call->view;
    if (span) {
        choose_ranges(before, after, call, against, span);
        return 0;
    }
    if (against && !strcmp(against, "week")) {
        after->view.span.from_s = call->view.span.to_s - WEEK_S;
        before->view.span = (struct span){call->view.span.to_s - 2 * WEEK_S, call->view.span.to_s - WEEK_S};
        return 0;
    }
    all.version = (struct filter){0};
    int rc = rows_version_sessions_read(&versions, &count, call->tx, call->arena, &all);
    if (rc)
        return rc;
    const char *now = asked->with_count == 1 && !asked->without_count ? asked->with[0] : newest(versions, count, NULL);
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

static int look(struct compared_side *side, struct call *call)
{
    struct session_point *points;
    size_t count;

    int rc = rows_sessions_read(&points, &count, call->tx, call->arena, &side->view, &(struct filter){0});
    if (!rc)
        rc = rows_hits_read(&side->hits, &side->count, call->tx, call->arena, &side->view);
    if (!rc)
        rc = rows_session_totals_read(&side->sessions, call->tx, call->arena, &side->view);
    if (!rc && count)
        side->sums = points[0].sums;
    return rc;
}

static struct change_side change_side_of(const struct compared_side *side, const struct issue_hits *hits)
{
    return (struct change_side){.reports = hits ? hits->reports : 0,
                                .devices = hits ? hits->devices : 0,
                                .hits = hits ? hits->hits : 0,
                                .hits_sq = hits ? hits->hits_sq : 0,
                                .sessions = side->sums.sessions,
                                .sessions_sq = side->sums.sessions_sq};
}

/* The issues that have enough reports to tell something, by number. */
static int64_t *worth_showing(size_t *count, struct arena *arena, const struct compared_side *before,
                              const struct compared_side *after)
{
    int64_t *issues = arena_array(arena, before->count + after->count + 1, sizeof *issues);
    size_t b = 0, a = 0;

    *count = 0;
    while (issues && (b < before->count || a < after->count)) {
        int64_t then = b < before->count ? before->hits[b].issue : INT64_MAX;
        int64_t now = a < after->count ? after->hits[a].issue : INT64_MAX;
        int64_t issue = then < now ? then : now, reports = 0;
        if (then == issue)
            reports += before->hits[b++].reports;
        if (now == issue)
            reports += after->hits[a++].reports;
        if (reports >= MIRE_CHANGE_LEAST)
            issues[(*count)++] = issue;
    }
    return issues;
}

/* Count the hits of both sides. */
static int count_hits(struct compared_side *before, struct compared_side *after, struct call *call)
{
    size_t count;
    int64_t *issues = worth_showing(&count, call->arena, before, after);
    int rc = issues ? 0 : MIRE_FAULT_MEMORY;

    if (!rc)
        rc = rows_hits_count(before->hits, before->count, call->tx, &before->view, issues, count);
    if (!rc)
        rc = rows_hits_count(after->hits, after->count, call->tx, &after->view, issues, count);
    return rc;
}

/* Both lists are in order of the issues' numbers. */
static size_t pair(struct compared *out, struct rate_change *changes, const struct compared_side *before,
                   const struct compared_side *after)
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
        out[count++] = (struct compared){.issue = now    ? now->issue
                                                  : then ? then->issue
                                                         : 0,
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

int compared_read(struct comparison *out, struct call *call, const char *against, const struct span *before)
{
    bool one = false;

    *out = (struct comparison){.count = 0};
    int rc = choose(&out->before, &out->after, &one, call, against, before);
    if (!rc && !one)
        rc = look(&out->before, call);
    if (!rc && !one)
        rc = look(&out->after, call);
    if (!rc && !one)
        rc = count_hits(&out->before, &out->after, call);
    if (rc)
        return rc;
    size_t room = out->before.count + out->after.count + 1;
    out->list = arena_array(call->arena, room, sizeof *out->list);
    struct rate_change *changes = arena_array(call->arena, room, sizeof *changes);
    if (!out->list || !changes)
        return MIRE_FAULT_MEMORY;
    out->count = pair(out->list, changes, &out->before, &out->after);
    rc = change_judge(call->arena, changes, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->list[i].change = changes[i];
    qsort(out->list, out->count, sizeof *out->list, in_order);
    return rc;
}

bool compared_is_shown(const struct compared *one)
{
    return one->change.verdict != CHANGE_FEW && one->change.verdict != CHANGE_SAME;
}
