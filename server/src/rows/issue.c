/* issue.c - what the events of one issue have in common. */
#include "rows/issue.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

/* Bounds of the duration bins, milliseconds: six to a decade, so a doubling shows. */
static const int64_t edges_ms[] = {
    0,        1,        2,        3,        5,         7,         10,        15,        20,        30,       50,
    70,       100,      150,      200,      300,       500,       700,       1000,      1500,      2000,     3000,
    5000,     7000,     10000,    15000,    20000,     30000,     50000,     70000,     100000,    150000,   200000,
    300000,   500000,   700000,   1000000,  1500000,   2000000,   3000000,   5000000,   7000000,   10000000, 15000000,
    20000000, 30000000, 50000000, 70000000, 100000000, 150000000, 200000000, 300000000, 500000000, 700000000};
#define EDGE_COUNT (sizeof edges_ms / sizeof *edges_ms)

/* clang-format off */
#define FACTS(which) \
    "SELECT count(*), count(*) FILTER (WHERE open), percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms)," \
    " percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms), sum(frame_count)::bigint, sum(unresolved_count)::bigint," \
    " min(occurred_at), max(occurred_at), count(*) FILTER (WHERE launch), count(*) FILTER (WHERE foreground)," \
    " count(*) FILTER (WHERE NOT foreground), count(*) FILTER (WHERE thread_count > 64), coalesce(sum(suppressed), 0)::bigint" \
    " FROM event WHERE " EVENT_IN_VIEW which("6")
#define DURATIONS(which) \
    "SELECT width_bucket(duration_ms, $7::bigint[]), count(*) FROM event WHERE " EVENT_IN_VIEW which("6") " GROUP BY 1 ORDER BY 1"
/* clang-format on */

int rows_splits_read(bool *out, struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc =
        pg_query(&rows, tx, "SELECT EXISTS (SELECT FROM issue_shown WHERE app_id = $1 AND tree <> 0)", PG_INT4(app));
    *out = !rc && pg_bool(rows, 0, 0);
    return rc;
}

int rows_keys_read(struct issue_keys *out, struct pg_tx *tx, struct arena *arena, const int64_t *issues, size_t count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT issue_id FROM issue_shown WHERE shown_id = ANY ($1::bigint[]) UNION SELECT unnest($1)",
                      PG_INT8S(issues, count));
    if (rc != 0)
        return rc;
    out->count = pg_row_count(rows);
    out->issues = arena_array(arena, out->count + 1, sizeof *out->issues);
    for (size_t i = 0; out->issues && i < out->count; i++)
        out->issues[i] = pg_int(rows, i, 0);
    return out->issues ? 0 : MIRE_FAULT_MEMORY;
}

int rows_shown_read(int64_t *shown_out, bool *many_out, struct pg_tx *tx, int32_t app, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT shown_id, EXISTS (SELECT FROM issue_shown h WHERE h.shown_id = s.shown_id) FROM (SELECT "
                      "coalesce((SELECT shown_id"
                      " FROM issue_shown WHERE app_id = $1 AND issue_id = $2 AND tree = 0), $2) AS shown_id) s",
                      PG_INT4(app), PG_INT8(issue));
    if (rc != 0)
        return rc;
    *shown_out = pg_int(rows, 0, 0);
    *many_out = pg_bool(rows, 0, 1);
    return 0;
}

int rows_issue_facts_read(struct issue_facts *out, struct pg_tx *tx, const struct view *view, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, OF_ISSUE(view, FACTS), VIEW_PARAMS(view), PG_INT8(issue));
    if (rc != 0)
        return rc;
    *out = (struct issue_facts){.reports = pg_int(rows, 0, 0),
                                .killed = pg_int(rows, 0, 1),
                                .p50_ms = pg_int(rows, 0, 2),
                                .p95_ms = pg_int(rows, 0, 3),
                                .frames = pg_int(rows, 0, 4),
                                .unresolved = pg_int(rows, 0, 5),
                                .oldest_us = pg_time(rows, 0, 6),
                                .newest_us = pg_time(rows, 0, 7),
                                .launch = pg_int(rows, 0, 8),
                                .foreground = pg_int(rows, 0, 9),
                                .background = pg_int(rows, 0, 10),
                                .many_threads = pg_int(rows, 0, 11),
                                .suppressed = pg_int(rows, 0, 12)};
    return 0;
}

int rows_durations_read(struct bin **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, OF_ISSUE(view, DURATIONS), VIEW_PARAMS(view), PG_INT8(issue),
                      PG_INT8S(edges_ms, EDGE_COUNT));
    if (rc != 0)
        return rc;
    *count = 0;
    *out = NULL;
    size_t used = pg_row_count(rows);
    if (used == 0)
        return 0;
    int64_t first = pg_int(rows, 0, 0), last = pg_int(rows, used - 1, 0);
    first = first < 1 ? 1 : first;
    last = last >= (int64_t)EDGE_COUNT ? (int64_t)EDGE_COUNT - 1 : last;
    *count = (size_t)(last - first + 1);
    if (!(*out = arena_array(arena, *count, sizeof **out)))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = (struct bin){.from_ms = edges_ms[first - 1 + (int64_t)i], .to_ms = edges_ms[first + (int64_t)i]};
    for (size_t i = 0; i < used; i++) {
        int64_t at = pg_int(rows, i, 0);
        at = at < first ? first : at;
        at = at > last ? last : at;
        (*out)[at - first].reports += pg_int(rows, i, 1);
    }

    return 0;
}

int rows_values_read(struct value_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                     const struct view *view, int64_t issue)
{
    static const char *const names[] = {"version", "os_version", "arch", "model", "process", "holder"};
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *of_issue = view->many ? ISSUE_MANY("6") : ISSUE_ALONE("6");

    const char *sql = SQL_FILL(arena, sql_issue_values, {"event_in_view", EVENT_IN_VIEW}, {"of_issue", of_issue});
    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), PG_INT8(issue), PG_INT8(MIRE_VALUES_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        const char *key = arena_strdup(arena, pg_text(rows, i, 1));
        if (!*out || !key)
            return MIRE_FAULT_MEMORY;
        (*out)[i] = (struct value_row){.name = names[pg_int(rows, i, 0)],
                                       .key = key,
                                       .here = pg_int(rows, i, 2),
                                       .here_total = pg_int(rows, i, 3),
                                       .all = pg_int(rows, i, 4),
                                       .all_total = pg_int(rows, i, 5)};
    }

    return 0;
}
