/* alert_counts.c - the statements behind alert_counts.h. */
#include "rows/alert_counts.h"

#include "rows/sql.h"
#include "rows/view_sql.h"

/* clang-format off */
/* $6 $7 kinds wanted, and not. The devices of one issue alone are read, by event_by_issue. */
static const char fresh_sql[] =
    "WITH shown AS (SELECT i.issue_id, coalesce(whole.shown_id, i.issue_id) AS shown_id FROM issue i"
    "  LEFT JOIN issue_shown whole ON whole.app_id = $1 AND whole.issue_id = i.issue_id AND whole.tree = 0"
    "  WHERE i.app_id = $1 AND i.gone_to IS NULL),"
    " fresh AS (SELECT shown_id, min(i.first_seen) AS first_seen, array_agg(i.issue_id) AS members FROM shown"
    "  JOIN issue i USING (issue_id) GROUP BY 1 HAVING min(i.first_seen) >= $2),"
    " device AS (SELECT shown_id, install, min((occurred_at AT TIME ZONE 'UTC')::date) AS day, max(weight)::float8 AS w"
    "  FROM fresh JOIN event ON event.issue_id = ANY (members) WHERE " EVENT_IN_VIEW " GROUP BY 1, 2)"
    " SELECT d.shown_id, i.caller1, i.subject <> '', f.first_seen, d.day, count(*), sum(w), sum(w * (w - 1))"
    " FROM device d JOIN fresh f USING (shown_id) JOIN issue i ON i.issue_id = d.shown_id"
    " WHERE {kind_wanted} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 5";

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

int rows_fresh_devices_read(struct fresh_devices **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, fresh_sql, {"kind_wanted", IS_WANTED("i.category", "$6", "$7")});
    int rc = sql ? pg_query(&rows, tx, sql, VIEW_PARAMS(view), FILTER_PARAMS(&view->kind)) : MIRE_FAULT_MEMORY;

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct fresh_devices){.issue = pg_int(rows, i, 0),
                                           .title = arena_strdup(arena, pg_text(rows, i, 1)),
                                           .memory = pg_bool(rows, i, 2),
                                           .first_us = pg_time(rows, i, 3),
                                           .day = pg_day(rows, i, 4),
                                           .seen = pg_int(rows, i, 5),
                                           .sum = pg_real(rows, i, 6),
                                           .variance = pg_real(rows, i, 7)};
        if (!(*out)[i].title)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
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
