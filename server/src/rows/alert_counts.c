/* alert_counts.c - the statements behind alert_counts.h. */
#include "rows/alert_counts.h"

#include "base/fault.h"
#include "rows/issue_days.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include <math.h>
#include <string.h>

/* clang-format off */
/* $2 since when, $3 $4 kinds wanted, and not. */
static const char fresh_sql[] =
    "SELECT i.issue_id, i.caller1, i.subject <> '', f.first_seen FROM"
    "  (SELECT coalesce(whole.shown_id, i.issue_id) AS shown_id, min(i.first_seen) AS first_seen FROM issue i"
    "   LEFT JOIN issue_shown whole ON whole.app_id = $1 AND whole.issue_id = i.issue_id AND whole.tree = 0"
    "   WHERE i.app_id = $1 AND i.gone_to IS NULL GROUP BY 1 HAVING min(i.first_seen) >= $2) f"
    " JOIN issue i ON i.issue_id = f.shown_id WHERE {kind_wanted} ORDER BY 1";

/* $2 $3 kinds wanted, and not. */
static const char regressed_sql[] =
    "SELECT i.issue_id, i.caller1, i.subject <> '', coalesce(i.state_version, ''), i.state_at FROM issue i"
    " WHERE i.app_id = $1 AND i.is_regressed AND i.gone_to IS NULL AND {kind_wanted} ORDER BY i.state_at DESC NULLS LAST, 1 LIMIT 200";

/* $7 $8 kinds wanted, and not; $9 end; $10 seconds of a window. */
#define WINDOW "floor(extract(epoch FROM $9::timestamptz - hour - interval '1 second') / $10::integer)::bigint"
static const char windows_sql[] =
    "SELECT 0::bigint, '', false, " WINDOW ", sum(reports)::float8 FROM version_hour WHERE " HOUR_IN_VIEW
    " AND {kind_wanted} GROUP BY 4 ORDER BY 4 DESC";

/* $11 windows looked at, $12 least reports. */
static const char issue_windows_sql[] =
    "WITH counted AS (SELECT coalesce(whole.shown_id, t.issue_id) AS issue_id, " WINDOW " AS part, sum(reports)::float8 AS reports"
    "  FROM issue_hour t LEFT JOIN issue_shown whole ON whole.app_id = $1 AND whole.issue_id = t.issue_id AND whole.tree = 0"
    "  WHERE {hour_in_view} GROUP BY 1, 2),"
    " grown AS (SELECT issue_id FROM counted WHERE part < $11 AND reports >= $12 GROUP BY 1)"
    " SELECT c.issue_id, i.caller1, i.subject <> '', part, reports FROM counted c JOIN grown USING (issue_id)"
    " JOIN issue i ON i.issue_id = c.issue_id WHERE {kind_wanted} ORDER BY 1, 4 DESC";

static const char unnamed_sql[] =
    "SELECT (hour AT TIME ZONE 'UTC')::date, sum(reports)::float8, coalesce(sum(reports) FILTER (WHERE i.unnamed), 0)::float8"
    " FROM issue_hour t JOIN issue i USING (issue_id) WHERE {hour_in_view} AND {kind_wanted} GROUP BY 1 ORDER BY 1";

/* Columns of issue_hour, which join others. */
#define ISSUE_HOUR_IN_VIEW \
    "t.app_id = $1 AND t.slot = ANY ($6::smallint[]) AND t.hour >= $2 AND t.hour < $3 AND" \
    " (cardinality($4::text[]) + cardinality($5::text[]) = 0 OR t.version_id IN (SELECT version_id FROM version" \
    " WHERE app_id = $1 AND (cardinality($4::text[]) = 0 OR version = ANY ($4)) AND version <> ALL ($5::text[])))"
/* clang-format on */

int rows_regressed_issues_read(struct regressed_issue **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, regressed_sql, {"kind_wanted", IS_WANTED("i.category", "$2", "$3")});
    int rc = sql ? pg_query(&rows, tx, sql, PG_INT4(view->app), FILTER_PARAMS(&view->kind)) : MIRE_FAULT_MEMORY;

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct regressed_issue *one = &(*out)[i];
        *one = (struct regressed_issue){.issue = pg_int(rows, i, 0),
                                        .title = arena_strdup(arena, pg_text(rows, i, 1)),
                                        .memory = pg_bool(rows, i, 2),
                                        .version = arena_strdup(arena, pg_text(rows, i, 3)),
                                        .at_us = pg_time(rows, i, 4)};
        if (!one->title || !one->version)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

/* The issues that are new, and the days that are read of them. */
struct fresh_list {
    struct fresh_devices *issues, *days;
    size_t issue_count, at, day_count, room;
    struct arena *arena;
};

static struct fresh_devices *add_day(struct fresh_list *list)
{
    if (list->day_count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct fresh_devices *days = arena_array(list->arena, room, sizeof *days);
        if (!days)
            return NULL;
        if (list->day_count)
            memcpy(days, list->days, list->day_count * sizeof *days);
        list->days = days;
        list->room = room;
    }
    return &list->days[list->day_count++];
}

/* The devices of each day that were not seen before. */
static int take_days(void *context, struct arena *scratch, int64_t issue, const struct issue_day *days, size_t count)
{
    struct fresh_list *list = context;
    struct distinct all = {0};
    double before = 0;
    int rc = 0;

    while (list->at < list->issue_count && list->issues[list->at].issue < issue)
        list->at++;
    for (size_t i = 0; !rc && i < count; i++) {
        rc = distinct_merge(&all, scratch, &days[i].devices);
        double now = distinct_count(&all), fresh = fmax(0, now - before), weight = issue_day_weight(&days[i]);
        before = fmax(before, now);
        if (rc || fresh == 0)
            continue;
        struct fresh_devices *day = add_day(list);
        if (!day)
            return MIRE_FAULT_MEMORY;
        *day = list->issues[list->at];
        day->day = days[i].day;
        day->seen = (int64_t)llround(fresh);
        day->sum = fresh * weight;
        day->variance = fresh * weight * (weight - 1);
    }
    return rc;
}

int rows_fresh_devices_read(struct fresh_devices **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, fresh_sql, {"kind_wanted", IS_WANTED("i.category", "$3", "$4")});
    int rc = sql ? pg_query(&rows, tx, sql, PG_INT4(view->app), PG_TIME(view->span.from_s * 1000000),
                            FILTER_PARAMS(&view->kind))
                 : MIRE_FAULT_MEMORY;

    if (rc)
        return rc;
    struct fresh_list list = {.issue_count = pg_row_count(rows), .arena = arena};
    int64_t *issues = arena_array(arena, list.issue_count + 1, sizeof *issues);
    list.issues = arena_array(arena, list.issue_count + 1, sizeof *list.issues);
    if (!issues || !list.issues)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < list.issue_count; i++) {
        issues[i] = pg_int(rows, i, 0);
        list.issues[i] = (struct fresh_devices){.issue = issues[i],
                                                .title = arena_strdup(arena, pg_text(rows, i, 1)),
                                                .memory = pg_bool(rows, i, 2),
                                                .first_us = pg_time(rows, i, 3)};
        if (!list.issues[i].title)
            return MIRE_FAULT_MEMORY;
    }
    rc = rows_issue_days_read(tx, view, issues, list.issue_count, take_days, &list);
    *out = list.days;
    *count = list.day_count;
    return rc;
}

static int take_windows(struct window_reports **out, size_t *count, struct arena *arena, const struct pg_rows *rows)
{
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct window_reports){.issue = pg_int(rows, i, 0),
                                            .title = arena_strdup(arena, pg_text(rows, i, 1)),
                                            .memory = pg_bool(rows, i, 2),
                                            .window = pg_int(rows, i, 3),
                                            .reports = pg_real(rows, i, 4)};
        if (!(*out)[i].title)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_window_reports_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                             const struct view *view, int64_t end_us, int32_t window_s)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, windows_sql, {"kind_wanted", IS_WANTED("category", "$7", "$8")});
    int rc = sql ? pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind), PG_TIME(end_us),
                            PG_INT4(window_s))
                 : MIRE_FAULT_MEMORY;

    return rc ? rc : take_windows(out, count, arena, rows);
}

int rows_window_issues_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view, int64_t end_us, int32_t window_s, int64_t recent, int64_t least)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, issue_windows_sql, {"kind_wanted", IS_WANTED("i.category", "$7", "$8")},
                               {"hour_in_view", ISSUE_HOUR_IN_VIEW});
    int rc = sql ? pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind), PG_TIME(end_us),
                            PG_INT4(window_s), PG_INT8(recent), PG_INT8(least))
                 : MIRE_FAULT_MEMORY;

    return rc ? rc : take_windows(out, count, arena, rows);
}

int rows_unnamed_reports_read(struct unnamed_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                              const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, unnamed_sql, {"kind_wanted", IS_WANTED("i.category", "$7", "$8")},
                               {"hour_in_view", ISSUE_HOUR_IN_VIEW});
    int rc =
        sql ? pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind)) : MIRE_FAULT_MEMORY;

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct unnamed_reports){pg_day(rows, i, 0), pg_real(rows, i, 1), pg_real(rows, i, 2)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
