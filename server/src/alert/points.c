/* points.c - the values of rates by version and day; what all kinds share. */
#include "alert/points.h"

#include "base/clock.h"
#include "base/fault.h"
#include "model/category.h"
#include "model/completeness.h"
#include "model/version.h"
#include "rows/arrivals.h"
#include "rows/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S    86400
#define US       1000000ll
#define WEEK     7
#define ENOUGH   1000.0 /* sessions from which a version is the newest */
#define PART_OF  20     /* or with one part in so many of all sessions */
#define ROOM_ADD 256

struct alert_point *alert_points_add(struct alert_look *look)
{
    struct alert_points *out = look->out;

    if (out->count == look->room) {
        size_t room = look->room ? look->room * 2 : ROOM_ADD;
        struct alert_point *more = arena_array(look->arena, room, sizeof *more);
        if (!more)
            return NULL;
        if (out->count)
            memcpy(more, out->points, out->count * sizeof *more);
        out->points = more;
        look->room = room;
    }
    return &out->points[out->count++];
}

/* --- rates --- */

static struct rate rate_of(enum alert_measure measure, const struct session_sums *s)
{
    struct rate rate = {0};
    double scale = 100;

    switch (measure) {
    case ALERT_LAG:
        rate = rate_share(s->lagging, s->watched, s->watched_sq);
        break;
    case ALERT_HANG_TIME:
        rate = rate_ratio(s->hang_ms, s->watched_ms, s->hang_hang_sq, s->hang_time_sq, s->time_time_sq);
        scale = 3600;
        break;
    case ALERT_FOOM:
        rate = rate_share(s->foom, s->ends, s->ends_sq);
        break;
    case ALERT_KILLED:
        rate = rate_share(s->watchdog, s->ends, s->ends_sq);
        break;
    case ALERT_CRASH:
        rate = rate_share(s->crash, s->ends, s->ends_sq);
        break;
    case ALERT_MEASURES:
        break;
    }
    rate.value *= scale;
    rate.low *= scale;
    rate.high *= scale;
    return rate;
}

static void add_sums(struct session_sums *to, const struct session_sums *s)
{
    to->records += s->records;
    to->sessions += s->sessions;
    to->watched += s->watched;
    to->watched_sq += s->watched_sq;
    to->watched_ms += s->watched_ms;
    to->lagging += s->lagging;
    to->hang_ms += s->hang_ms;
    to->hang_hang_sq += s->hang_hang_sq;
    to->hang_time_sq += s->hang_time_sq;
    to->time_time_sq += s->time_time_sq;
    to->ends += s->ends;
    to->ends_sq += s->ends_sq;
    to->foom += s->foom;
    to->watchdog += s->watchdog;
    to->crash += s->crash;
}

/* Sessions by version and day, and of all versions by day; the days from `first` on. */
struct days {
    const struct session_point *points; /* version by version */
    size_t count;
    int32_t first;
    int count_days;
    struct session_sums *all; /* of each day */
    const char **newest;      /* of each day */
    struct completeness completeness;
};

/* Of the newest version with enough sessions in the week up to each day. */
static void find_newest(struct days *days)
{
    for (int d = 0; d < days->count_days; d++) {
        double all = 0, own = 0;
        const char *version = NULL;
        for (int k = d < WEEK ? 0 : d - WEEK + 1; k <= d; k++)
            all += days->all[k].sessions;
        for (size_t i = 0; i < days->count; i++) {
            const struct session_point *p = &days->points[i];
            own = p->has_day ? own : 0;
            if (!p->has_day || p->day > days->first + d || p->day <= days->first + d - WEEK)
                continue;
            own += p->sums.sessions;
            if (own >= fmin(ENOUGH, all / PART_OF) && (!version || version_compare(p->version, version) > 0))
                version = p->version;
        }
        days->newest[d] = version;
    }
}

static int read_days(struct days *out, struct alert_look *look, int lead)
{
    struct session_point *points;
    struct arrivals *arrivals;
    size_t count;
    int32_t today = clock_day(look->now_us);

    out->count_days = look->parts + lead;
    out->first = today - out->count_days + 1;
    look->view.span = (struct span){(int64_t)out->first * DAY_S, (int64_t)(today + 1) * DAY_S};
    out->all = arena_array(look->arena, (size_t)out->count_days, sizeof *out->all);
    out->newest = arena_array(look->arena, (size_t)out->count_days, sizeof *out->newest);
    if (!out->all || !out->newest)
        return MIRE_FAULT_MEMORY;
    int rc = rows_sessions_each_read(&points, &out->count, look->tx, look->arena, &look->view, &look->channel);
    if (!rc)
        rc = rows_arrivals_read(&arrivals, &count, look->tx, look->arena, look->rule->app, "session", look->now_us);
    if (rc)
        return rc;
    out->points = points;
    out->completeness = completeness_of(arrivals, count, look->now_us);
    for (size_t i = 0; i < out->count; i++)
        if (points[i].has_day && points[i].day >= out->first && points[i].day <= today)
            add_sums(&out->all[points[i].day - out->first], &points[i].sums);
    find_newest(out);
    return 0;
}

/* The rate of all versions in the seven days before day `d`. */
static struct rate week_before(const struct days *days, enum alert_measure measure, int d)
{
    struct session_sums sums = {0};

    for (int k = d < WEEK ? 0 : d - WEEK; k < d; k++)
        add_sums(&sums, &days->all[k]);
    return sums.records < MIRE_ALERT_LEAST ? (struct rate){0} : rate_of(measure, &sums);
}

static int add_day(struct alert_look *look, const struct days *days, const char *subject, int d,
                   const struct session_sums *sums)
{
    const struct alert_rule *rule = look->rule;
    struct alert_point *point = alert_points_add(look);

    if (!point)
        return MIRE_FAULT_MEMORY;
    *point = (struct alert_point){.subject = subject, .at_s = (int64_t)(days->first + d) * DAY_S, .bound = rule->bound};
    if (sums->records >= MIRE_ALERT_LEAST &&
        completeness_share(&days->completeness, days->first + d, look->now_us) >= MIRE_ALERT_LEAST_SHARE)
        point->rate = rate_of(rule->measure, sums);
    if (rule->against_week) {
        struct rate before = week_before(days, rule->measure, d);
        point->usual = before.value;
        point->bound = rule->bound * before.high;
    }
    return 0;
}

static int points_rate(struct alert_look *look)
{
    struct days days;
    int lead = WEEK;
    int rc = read_days(&days, look, lead);
    bool all = !strcmp(look->rule->scope, "all"), newest = !strcmp(look->rule->scope, "newest");

    for (int d = lead; !rc && all && d < days.count_days; d++)
        rc = add_day(look, &days, "", d, &days.all[d]);
    for (size_t i = 0; !rc && !all && i < days.count; i++) {
        const struct session_point *p = &days.points[i];
        int d = p->has_day ? p->day - days.first : -1;
        if (d < lead || d >= days.count_days ||
            (newest && (!days.newest[d] || strcmp(days.newest[d], p->version) != 0)))
            continue;
        rc = add_day(look, &days, p->version, d, &p->sums);
    }
    return rc;
}

/* --- all kinds --- */

/* Kinds of the view; idle and system only if they are named. */
static int read_kinds(struct filter *out, struct arena *arena, const char *text)
{
    if (*text && filter_parse(out, arena, text, NULL) != 0)
        return MIRE_ALERT_WRONG;
    if (out->with_count)
        return 0;
    const char **without = arena_array(arena, out->without_count + MIRE_CATEGORY_COUNT, sizeof *without);
    if (!without)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->without_count; i++)
        without[i] = out->without[i];
    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++)
        if (category_is_apart((enum event_category)i))
            without[out->without_count++] = category_name((enum event_category)i);
    out->without = without;
    return 0;
}

int alert_parts(const struct alert_rule *rule, int days)
{
    int32_t part_s = rule->kind == ALERT_GROWTH || rule->kind == ALERT_SILENCE ? rule->window_s : DAY_S;

    return days * DAY_S / part_s;
}

int alert_points_read(struct alert_points *out, struct pg_tx *tx, struct arena *arena, const struct alert_rule *rule,
                      const struct alert_budget *budget, int64_t now_us, int parts)
{
    static int (*const readers[ALERT_KINDS])(struct alert_look * look) = {
        [ALERT_RATE] = points_rate,
        [ALERT_NEW] = alert_points_new,
        [ALERT_GROWTH] = alert_points_growth,
        [ALERT_MISSING] = alert_points_missing,
        [ALERT_SILENCE] = alert_points_silence,
        [ALERT_GUARD] = alert_points_guard,
        [ALERT_REGRESSED] = alert_points_regressed,
        [ALERT_QUOTA] = alert_points_quota,
    };
    struct alert_look look = {.tx = tx,
                              .arena = arena,
                              .rule = rule,
                              .budget = budget,
                              .view = {.app = rule->app},
                              .now_us = now_us,
                              .parts = parts,
                              .out = out};

    *out = (struct alert_points){.part_s = DAY_S / (alert_parts(rule, 1))};
    if ((*rule->versions && filter_parse(&look.view.version, arena, rule->versions, NULL) != 0) ||
        (*rule->channel && filter_parse(&look.channel, arena, rule->channel, NULL) != 0))
        return MIRE_ALERT_WRONG;
    int rc = read_kinds(&look.view.kind, arena, rule->kinds);
    return rc ? rc : readers[rule->kind](&look);
}
