/* points_issues.c - the values of kinds that are about issues and reports. */
#include "alert/points.h"

#include "base/clock.h"
#include "base/fault.h"
#include "model/completeness.h"
#include "rows/alert_counts.h"
#include "rows/arrivals.h"
#include "rows/door.h"
#include "rows/ramp.h"

#include <inttypes.h>
#include <string.h>

#define HOUR_S 3600
#define DAY_S  86400
#define US     1000000ll
#define WEEK   7

static const char *issue_name(struct arena *arena, int64_t issue)
{
    return arena_printf(arena, "%" PRId64, issue);
}

static const char *issue_title(struct arena *arena, int64_t issue, bool memory, const char *title)
{
    return arena_printf(arena, "%c-%" PRId64 " %s", memory ? 'M' : 'I', issue, title);
}

/* Until each day, the devices that had an issue which was new on that day. */
int alert_points_new(struct alert_look *look)
{
    const struct alert_rule *rule = look->rule;
    int32_t today = clock_day(look->now_us), first = today - look->parts + 1;
    struct fresh_devices *rows;
    size_t count;

    look->view.span = (struct span){(int64_t)first * DAY_S - rule->window_s, look->now_us / US + 1};
    int rc = rows_fresh_devices_read(&rows, &count, look->tx, look->arena, &look->view);
    for (size_t i = 0, end; !rc && i < count; i = end) {
        double sum = 0, variance = 0, seen = 0;
        int32_t born = clock_day(rows[i].first_us), last = born + rule->window_s / DAY_S;
        const char *subject = issue_name(look->arena, rows[i].issue);
        const char *title = issue_title(look->arena, rows[i].issue, rows[i].memory, rows[i].title);
        size_t at = i;
        for (end = i; end < count && rows[end].issue == rows[i].issue;)
            end++;
        for (int32_t day = born; !rc && day <= today && day <= last; day++) {
            for (; at < end && rows[at].day <= day; at++) {
                sum += rows[at].sum;
                variance += rows[at].variance;
                seen += (double)rows[at].seen;
            }
            if (day < first)
                continue;
            struct alert_point *point = alert_points_add(look);
            if (!point || !subject || !title)
                return MIRE_FAULT_MEMORY;
            *point = (struct alert_point){.subject = subject,
                                          .title = title,
                                          .at_s = (int64_t)day * DAY_S,
                                          .rate = alert_devices(sum, variance, seen),
                                          .bound = rule->bound};
        }
    }
    return rc;
}

/* Windows of whole hours, the last one ended at the last whole hour; how many a day, and at most. */
static int64_t begin_windows(struct alert_look *look, int *each_day, int64_t *windows)
{
    int64_t end_s = look->now_us / US / HOUR_S * HOUR_S;

    *each_day = DAY_S / look->rule->window_s;
    *windows = look->parts + WEEK * *each_day;
    look->view.span = (struct span){end_s - *windows * look->rule->window_s, end_s + HOUR_S};
    return end_s;
}

/* How many reports came in the same window of the seven days before window `k`. counts[0]: the current hour. */
static double usual_of(const double *counts, int64_t k, int each_day)
{
    double sum = 0;

    for (int day = 1; day <= WEEK; day++)
        sum += counts[1 + k + (int64_t)day * each_day];
    return sum;
}

static int add_growth(struct alert_look *look, const struct window_reports *of, const double *counts, int64_t end_s,
                      int each_day)
{
    const struct alert_rule *rule = look->rule;
    const char *subject = issue_name(look->arena, of->issue);
    const char *title = issue_title(look->arena, of->issue, of->memory, of->title);

    for (int64_t k = look->parts - 1; k >= 0; k--) {
        double before = usual_of(counts, k, each_day), now = counts[1 + k];
        struct alert_point *point = alert_points_add(look);
        if (!point || !subject || !title)
            return MIRE_FAULT_MEMORY;
        *point = (struct alert_point){.subject = subject,
                                      .title = title,
                                      .at_s = end_s - (k + 1) * rule->window_s,
                                      .bound = rule->bound,
                                      .usual = before / WEEK};
        if (now >= MIRE_ALERT_LEAST_GROWTH)
            point->rate = alert_growth(now, before, WEEK);
        else
            point->rate = (struct rate){.known = true}; /* so few reports are no trouble, and end an open alert */
    }
    return 0;
}

int alert_points_growth(struct alert_look *look)
{
    const struct alert_rule *rule = look->rule;
    struct window_reports *rows;
    int64_t windows;
    size_t count;
    int each_day;
    int64_t end_s = begin_windows(look, &each_day, &windows);
    double *counts = arena_array(look->arena, (size_t)windows + 1, sizeof *counts);
    int rc = rows_window_issues_read(&rows, &count, look->tx, look->arena, &look->view, end_s * US, rule->window_s,
                                     look->parts, MIRE_ALERT_LEAST_GROWTH);

    if (!counts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0, end; !rc && i < count; i = end) {
        memset(counts, 0, ((size_t)windows + 1) * sizeof *counts);
        for (end = i; end < count && rows[end].issue == rows[i].issue; end++)
            if (rows[end].window >= 0 && rows[end].window < windows)
                counts[1 + rows[end].window] = rows[end].reports;
        rc = add_growth(look, &rows[i], counts, end_s, each_day);
    }
    return rc;
}

/*
 * Percent of the usual. Reports of the current hour count as those of the last whole one, so the number is never too
 * low.
 */
int alert_points_silence(struct alert_look *look)
{
    const struct alert_rule *rule = look->rule;
    struct window_reports *rows;
    struct arrivals *arrivals;
    int64_t windows;
    size_t count, arrival_count;
    int each_day;
    int64_t end_s = begin_windows(look, &each_day, &windows);
    double *counts = arena_array(look->arena, (size_t)windows + 1, sizeof *counts);
    int rc = rows_window_reports_read(&rows, &count, look->tx, look->arena, &look->view, end_s * US, rule->window_s);

    if (!rc)
        rc = rows_arrivals_read(&arrivals, &arrival_count, look->tx, look->arena, rule->app, "event", look->now_us);
    if (!counts || rc)
        return rc ? rc : MIRE_FAULT_MEMORY;
    struct completeness completeness = completeness_of(arrivals, arrival_count, look->now_us);
    for (size_t i = 0; i < count; i++)
        if (rows[i].window >= -1 && rows[i].window < windows)
            counts[1 + rows[i].window] = rows[i].reports;
    for (int64_t k = look->parts - 1; k >= 0; k--) {
        struct alert_point *point = alert_points_add(look);
        if (!point)
            return MIRE_FAULT_MEMORY;
        double share = k == 0 && completeness.known ? completeness.within[0] : 1;
        double usual = usual_of(counts, k, each_day) / WEEK * share;
        struct rate came = alert_count(counts[1 + k] + (k == 0 ? counts[0] : 0));
        *point = (struct alert_point){
            .subject = "", .at_s = end_s - (k + 1) * rule->window_s, .bound = rule->bound, .usual = usual};
        if (usual > 0)
            point->rate =
                (struct rate){true, 100 * came.value / usual, 100 * came.low / usual, 100 * came.high / usual};
    }
    return 0;
}

int alert_points_missing(struct alert_look *look)
{
    int32_t today = clock_day(look->now_us), first = today - look->parts + 1;
    struct unnamed_reports *rows;
    size_t count;

    look->view.span = (struct span){(int64_t)first * DAY_S, (int64_t)(today + 1) * DAY_S};
    int rc = rows_unnamed_reports_read(&rows, &count, look->tx, look->arena, &look->view);
    for (size_t i = 0; !rc && i < count; i++) {
        struct alert_point *point = alert_points_add(look);
        if (!point)
            return MIRE_FAULT_MEMORY;
        struct rate share = rate_share(rows[i].unnamed, rows[i].reports, rows[i].reports);
        *point = (struct alert_point){.subject = "",
                                      .at_s = (int64_t)rows[i].day * DAY_S,
                                      .bound = look->rule->bound,
                                      .rate = {share.known, 100 * share.value, 100 * share.low, 100 * share.high}};
    }
    return rc;
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Reports and bytes that came on each day, as percent of the present budget; reports beyond it count too. */
int alert_points_quota(struct alert_look *look)
{
    struct rows_budget budget = {.app_id = look->rule->app};
    struct rows_door_day *rows;
    size_t count;
    int32_t today = clock_day(look->now_us);
    int rc = rows_budgets_read(&budget, 1, look->tx, look->arena, look->budget->reports, look->budget->bytes);

    if (!rc)
        rc = rows_door_days(&rows, &count, look->tx, look->arena, look->rule->app, look->parts + 1);
    if (rc || (budget.quota_reports <= 0 && budget.quota_bytes <= 0))
        return rc;
    for (int32_t day = today - look->parts + 1; day <= today; day++) {
        int64_t reports = 0, bytes = 0;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].day != day || (strcmp(rows[i].outcome, "stored") != 0 && strcmp(rows[i].outcome, "quota") != 0))
                continue;
            reports += rows[i].reports;
            bytes += rows[i].bytes;
        }
        struct alert_point *point = alert_points_add(look);
        if (!point)
            return MIRE_FAULT_MEMORY;
        double of_reports = percent(reports, budget.quota_reports), of_bytes = percent(bytes, budget.quota_bytes);
        double used = of_reports > of_bytes ? of_reports : of_bytes;
        *point = (struct alert_point){.subject = "",
                                      .title = of_reports >= of_bytes ? "reports" : "bytes",
                                      .at_s = (int64_t)day * DAY_S,
                                      .bound = look->rule->bound,
                                      .rate = {true, used, used, used}};
    }
    return 0;
}

/* The past is unknown: a ramp has only its newest trip. */
int alert_points_guard(struct alert_look *look)
{
    struct rows_ramp *ramps;
    size_t count;
    int rc = rows_ramp_list(&ramps, &count, look->tx, look->arena, look->rule->app);

    for (size_t i = 0; !rc && i < count; i++) {
        struct alert_point *point = ramps[i].tripped_us ? alert_points_add(look) : NULL;
        const char *title = arena_printf(look->arena, "%s, %s", ramps[i].plugin, ramps[i].note);
        if (!title || (ramps[i].tripped_us && !point))
            return MIRE_FAULT_MEMORY;
        if (point)
            *point = (struct alert_point){.subject = ramps[i].plugin,
                                          .title = title,
                                          .at_s = ramps[i].tripped_us / US,
                                          .rate = {.known = true, .value = 1, .low = 1, .high = 1}};
    }
    return rc;
}

/* The past is not known: an issue has its newest state alone. */
int alert_points_regressed(struct alert_look *look)
{
    struct regressed_issue *rows;
    size_t count;
    int rc = rows_regressed_issues_read(&rows, &count, look->tx, look->arena, &look->view);

    for (size_t i = 0; !rc && i < count; i++) {
        struct alert_point *point = alert_points_add(look);
        const char *subject = issue_name(look->arena, rows[i].issue);
        const char *name = issue_title(look->arena, rows[i].issue, rows[i].memory, rows[i].title);
        const char *title =
            *rows[i].version ? arena_printf(look->arena, "%s, in version %s", name, rows[i].version) : name;
        if (!point || !subject || !name || !title)
            return MIRE_FAULT_MEMORY;
        *point = (struct alert_point){.subject = subject,
                                      .title = title,
                                      .at_s = rows[i].at_us / US,
                                      .rate = {.known = true, .value = 1, .low = 1, .high = 1}};
    }
    return rc;
}
