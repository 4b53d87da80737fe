/* apps.c - apps, where permalinks lead, and what waits. */
#include "rows/apps.h"
#include "base/clock.h"
#include "model/category.h"
#include "model/rows.h"
#include "rows/rows.h"
#include "rows/view_sql.h"

#include <string.h>

#define APPS_MAX 1000 /* in the list of apps */

/* clang-format off */
const int16_t read_slots[MIRE_SLOT_COUNT] = {
     0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};
/* Of apps $1: reports since $2, and when the newest event happened. Each table is summed by app before it is joined. */
static const char sums_sql[] =
    "SELECT coalesce(h.reports, 0), greatest(d.newest_at, r.newest_at) FROM unnest($1::int[]) WITH ORDINALITY a (app_id, place)"
    " LEFT JOIN (SELECT app_id, sum(reports)::bigint AS reports FROM version_hour WHERE slot = ANY ($3::smallint[])"
    "  AND hour >= date_trunc('hour', $2::timestamptz, 'UTC') AND app_id = ANY ($1) GROUP BY app_id) h USING (app_id)"
    " LEFT JOIN (SELECT app_id, max(newest_at) AS newest_at FROM rollup_delta WHERE app_id = ANY ($1) GROUP BY app_id) d"
    "  USING (app_id)"
    " LEFT JOIN (SELECT app_id, max(newest_at) AS newest_at FROM rollup WHERE app_id = ANY ($1) AND issue_id = 0 AND hours = 24"
    "  AND category <> 'session' GROUP BY app_id) r USING (app_id) ORDER BY place";

#define SEEN(all, own, account) \
    "(" all " OR a.app_id = " own " OR EXISTS (SELECT FROM member m WHERE m.account_id = " account \
    " AND m.app_id IN (0, a.app_id)))"
/* clang-format on */

int rows_app_seen_read(bool *out, struct pg_tx *tx, const struct apps_seen *seen, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, "SELECT FROM app a WHERE a.app_id = $1 AND " SEEN("$2", "$3", "$4"), PG_INT4(app),
                      PG_BOOL(seen->all), PG_INT4(seen->app), PG_INT8(seen->account));
    *out = !rc && pg_row_count(rows);
    return rc;
}

int rows_apps_read(struct app_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct apps_seen *seen, int64_t since_us)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    struct pg_rows *sums MIRE_SCOPED(pg_rows_free) = NULL;
    int32_t apps[APPS_MAX];

    int rc = pg_query(&rows, tx,
                      "SELECT slug, name, app_id FROM app a WHERE " SEEN("$1", "$2", "$3") " ORDER BY slug LIMIT $4",
                      PG_BOOL(seen->all), PG_INT4(seen->app), PG_INT8(seen->account), PG_INT8(APPS_MAX));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        apps[i] = (int32_t)pg_int(rows, i, 2);
    if (!rc)
        rc = pg_query(&sums, tx, sums_sql, PG_INT4S(apps, pg_row_count(rows)), PG_TIME(since_us), SLOT_PARAM);
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        if (!*out)
            return MIRE_FAULT_MEMORY;
        (*out)[i] = (struct app_row){.slug = arena_strdup(arena, pg_text(rows, i, 0)),
                                     .name = arena_strdup(arena, pg_text(rows, i, 1)),
                                     .reports_24h = pg_int(sums, i, 0),
                                     .last_us = pg_time(sums, i, 1)};
        if (!(*out)[i].slug || !(*out)[i].name)
            return MIRE_FAULT_MEMORY;
    }

    return 0;
}

bool rows_app_is_slug(const char *text)
{
    static const char *const taken[] = {"api", "assets", "docs", "metrics"}; /* the server's own paths */
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(text, taken[i]))
            return false;
    return len && !text[len] && len <= MIRE_APP_SLUG_MAX && *text != '-';
}

/* The number is given out under a lock of the table: apps are few and made by hand. */
int rows_app_add(struct pg_tx *tx, const char *slug, const char *name)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(NULL, tx, "LOCK TABLE app IN SHARE ROW EXCLUSIVE MODE");

    if (!rc)
        rc = pg_query(&rows, tx,
                      "INSERT INTO app (app_id, slug, name) SELECT coalesce(max(app_id), 0) + 1, $1, $2 FROM"
                      " (SELECT app_id FROM app UNION ALL SELECT app_id FROM app_removed) a"
                      " ON CONFLICT (slug) DO NOTHING RETURNING app_id",
                      PG_TEXT(slug), PG_TEXT(name));
    if (rc)
        return rc;
    return pg_row_count(rows) ? ROWS_APP_MADE : ROWS_APP_THERE;
}

/* The newest event and its issue, as it is shown. */
static int read_newest(struct app_start *out, struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT e.received_at, i.issue_id, i.subject <> '', e.install"
                      " FROM (SELECT * FROM event WHERE app_id = $1 ORDER BY occurred_at DESC LIMIT 1) e"
                      " LEFT JOIN issue_shown s ON s.app_id = e.app_id AND s.issue_id = e.issue_id AND s.tree = 0"
                      " JOIN issue i ON i.issue_id = coalesce(s.shown_id, e.issue_id)",
                      PG_INT4(app));

    if (rc || !pg_row_count(rows))
        return rc;
    struct pg_bytes install = pg_bytes(rows, 0, 3);
    out->report_us = pg_time(rows, 0, 0);
    out->issue = pg_int(rows, 0, 1);
    out->memory = pg_bool(rows, 0, 2);
    hex_format(out->install, install.bytes, install.len > 16 ? 16 : install.len);
    return 0;
}

int rows_app_start_read(struct app_start *out, struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT (SELECT max(used_at) FROM access_key WHERE app_id = $1 AND scope = 'ingest'),"
                      " (SELECT min(first_seen) FROM version WHERE app_id = $1 AND version_id IN"
                      "  (SELECT version_id FROM session_day WHERE slot = ANY ($2) AND day >= current_date - 30"
                      "   AND app_id = $1))",
                      PG_INT4(app), PG_INT2S(read_slots, MIRE_SLOT_COUNT));

    *out = (struct app_start){0};
    if (rc)
        return rc;
    out->contact_us = pg_time(rows, 0, 0);
    out->session_us = pg_time(rows, 0, 1);
    return read_newest(out, tx, app);
}

int rows_app_read(int32_t *app_out, struct pg_tx *tx, const char *slug)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, "SELECT app_id FROM app WHERE slug = $1", PG_TEXT(slug));
    if (rc != 0)
        return rc;
    if (pg_row_count(rows) == 0)
        return READ_NONE;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    return 0;
}

const char *const rows_goal_names[MIRE_GOALS] = {"goal_lag_percent", "goal_hang_s_per_hour", "goal_foom_percent",
                                                 "goal_watchdog_percent", "goal_crash_percent"};

#define GOAL_COLUMNS                                                                                         \
    " coalesce(goal_lag_percent, -1), coalesce(goal_hang_s_per_hour, -1), coalesce(goal_foom_percent, -1), " \
    "coalesce(goal_watchdog_percent, -1), coalesce(goal_crash_percent, -1)"

static void read_goals(double goals[MIRE_GOALS], const struct pg_rows *rows, int column)
{
    for (int i = 0; i < MIRE_GOALS; i++)
        goals[i] = pg_row_count(rows) ? pg_real(rows, 0, column + i) : -1;
}

int rows_goals_read(double goals[MIRE_GOALS], struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, "SELECT" GOAL_COLUMNS " FROM app WHERE app_id = $1", PG_INT4(app));

    if (!rc)
        read_goals(goals, rows, 0);
    return rc;
}

int rows_app_settings_read(struct app_settings *out, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT name, coalesce(retention_days, -1), coalesce(quota_reports_day, -1), "
                      "coalesce(quota_bytes_day, -1), source_link, source_root, left_out,"
                      " coalesce(enough_per_issue_day, -1), ticket_link, kept_tags, coalesce(merge_above, 0)::float8, "
                      "idle, owners," GOAL_COLUMNS " "
                      "FROM app WHERE app_id = $1",
                      PG_INT4(app));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_FAULT_RACED;
    *out = (struct app_settings){.name = arena_strdup(arena, pg_text(rows, 0, 0)),
                                 .retention_days = pg_int(rows, 0, 1),
                                 .quota_reports = pg_int(rows, 0, 2),
                                 .quota_bytes = pg_int(rows, 0, 3),
                                 .enough = pg_int(rows, 0, 7),
                                 .source_link = arena_strdup(arena, pg_text(rows, 0, 4)),
                                 .source_root = arena_strdup(arena, pg_text(rows, 0, 5)),
                                 .left_out = arena_strdup(arena, pg_text(rows, 0, 6)),
                                 .ticket_link = arena_strdup(arena, pg_text(rows, 0, 8)),
                                 .kept_tags = arena_strdup(arena, pg_text(rows, 0, 9)),
                                 .merge_above = pg_real(rows, 0, 10),
                                 .idle = arena_strdup(arena, pg_text(rows, 0, 11)),
                                 .owners = arena_strdup(arena, pg_text(rows, 0, 12))};
    read_goals(out->goals, rows, 13);
    bool is_whole = out->name && out->source_link && out->source_root && out->left_out && out->ticket_link;
    return is_whole && out->kept_tags && out->idle && out->owners ? 0 : MIRE_FAULT_MEMORY;
}

int rows_app_settings_write(struct pg_tx *tx, int32_t app, const struct app_settings *settings)
{
    return pg_query(NULL, tx,
                    "UPDATE app SET name = $2, retention_days = nullif($3, -1), quota_reports_day = nullif($4, -1),"
                    " quota_bytes_day = nullif($5, -1), source_link = $6, source_root = $7, left_out = $8, "
                    "enough_per_issue_day = nullif($9, -1), ticket_link = $10, kept_tags = $11,"
                    " merge_above = nullif($12::float8, 0), idle = $13, owners = $14,"
                    "goal_lag_percent = nullif($15::float8, -1), goal_hang_s_per_hour = nullif($16::float8, -1), "
                    "goal_foom_percent = nullif($17::float8, -1), goal_watchdog_percent = nullif($18::float8, -1), "
                    "goal_crash_percent = nullif($19::float8, -1) WHERE app_id = $1",
                    PG_INT4(app), PG_TEXT(settings->name), PG_INT4((int32_t)settings->retention_days),
                    PG_INT8(settings->quota_reports), PG_INT8(settings->quota_bytes), PG_TEXT(settings->source_link),
                    PG_TEXT(settings->source_root), PG_TEXT(settings->left_out), PG_INT4((int32_t)settings->enough),
                    PG_TEXT(settings->ticket_link), PG_TEXT(settings->kept_tags), PG_REAL(settings->merge_above),
                    PG_TEXT(settings->idle), PG_TEXT(settings->owners), PG_REAL(settings->goals[0]),
                    PG_REAL(settings->goals[1]), PG_REAL(settings->goals[2]), PG_REAL(settings->goals[3]),
                    PG_REAL(settings->goals[4]));
}

int rows_app_taken_read(const char **left_out, const char **kept_tags, struct pg_tx *tx, struct arena *arena,
                        int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, "SELECT left_out, kept_tags FROM app WHERE app_id = $1", PG_INT4(app));
    if (rc)
        return rc;
    bool found = pg_row_count(rows) > 0;
    *left_out = found ? arena_strdup(arena, pg_text(rows, 0, 0)) : "";
    *kept_tags = found ? arena_strdup(arena, pg_text(rows, 0, 1)) : "";
    return *left_out && *kept_tags ? 0 : MIRE_FAULT_MEMORY;
}

static int home_fill(struct home *out, struct arena *arena, const struct pg_rows *rows)
{
    if (pg_row_count(rows) == 0)
        return READ_NONE;
    *out = (struct home){.slug = arena_strdup(arena, pg_text(rows, 0, 0)),
                         .app = (int32_t)pg_int(rows, 0, 1),
                         .issue = pg_int(rows, 0, 2),
                         .memory = pg_bool(rows, 0, 3)};
    return out->slug ? 0 : MIRE_FAULT_MEMORY;
}

int rows_issue_now_read(int64_t *issue, struct pg_tx *tx)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "WITH RECURSIVE way AS (SELECT issue_id, gone_to FROM issue WHERE issue_id = $1"
                      "  UNION SELECT i.issue_id, i.gone_to FROM issue i JOIN way w ON i.issue_id = w.gone_to)"
                      " SELECT issue_id FROM way WHERE gone_to IS NULL",
                      PG_INT8(*issue));
    if (!rc && pg_row_count(rows))
        *issue = pg_int(rows, 0, 0);
    return rc;
}

int rows_issue_is_of(bool *out, struct pg_tx *tx, int32_t app, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT FROM issue WHERE app_id = $1 AND issue_id = $2", PG_INT4(app), PG_INT8(issue));

    *out = !rc && pg_row_count(rows);
    return rc;
}

int rows_issue_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = rows_issue_now_read(&issue, tx);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT slug, i.app_id, i.issue_id, i.subject <> '' FROM issue k LEFT JOIN issue_shown s ON"
                      " s.app_id = k.app_id AND s.issue_id = k.issue_id AND s.tree = 0"
                      " JOIN issue i ON i.issue_id = coalesce(s.shown_id, k.issue_id)"
                      " JOIN app ON app.app_id = i.app_id WHERE k.issue_id = $1",
                      PG_INT8(issue));
    return rc ? rc : home_fill(out, arena, rows);
}

int rows_report_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, const struct uuid *report)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT slug, i.app_id, i.issue_id, i.subject <> '' FROM event e"
                      " LEFT JOIN issue_shown part ON part.app_id = e.app_id AND part.issue_id = e.issue_id"
                      "  AND part.tree = e.tree AND part.tree <> 0"
                      " LEFT JOIN issue_shown whole ON whole.app_id = e.app_id AND whole.issue_id = e.issue_id"
                      "  AND whole.tree = 0"
                      " JOIN issue i ON i.issue_id = coalesce(part.shown_id, whole.shown_id, e.issue_id)"
                      " JOIN app ON app.app_id = i.app_id WHERE slot = $1 AND day = $2 AND report_id = $3",
                      PG_INT2(uuid_slot(report)), PG_DAY(clock_day(uuid_wall_us(report))), PG_UUID(report));
    return rc ? rc : home_fill(out, arena, rows);
}

int rows_backlog_read(struct backlog *out, struct pg_tx *tx, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT (SELECT count(*) FROM (SELECT 1 FROM inbox WHERE app_id = $1 LIMIT $4) waiting),"
                      " (SELECT count(*) FROM dead_letter WHERE app_id = $1 AND failed_at >= $2 AND failed_at < $3),"
                      " (SELECT coalesce(sum(reports), 0)::bigint FROM door_day WHERE slot = $5 AND app_id = $1"
                      "  AND outcome = 'quota' AND day >= ($2 AT TIME ZONE 'UTC')::date"
                      "  AND day < ($3 AT TIME ZONE 'UTC')::date + 1)",
                      PG_INT4(view->app), PG_TIME(view->span.from_s * 1000000), PG_TIME(view->span.to_s * 1000000),
                      PG_INT8(MIRE_WAITING_MAX), PG_INT2(rows_slot(view->app, 0)));
    if (rc != 0)
        return rc;
    *out = (struct backlog){pg_int(rows, 0, 0), pg_int(rows, 0, 1), pg_int(rows, 0, 2), {0}};
    return rows_put_aside_read(out->aside, tx, view);
}
