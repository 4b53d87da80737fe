/*
 * counters_settle.c - see counters_settle.h. One statement deletes the counters without reports, one finds those whose
 * longest or newest may have left, one searches the rest of their events, and one sets them.
 */
#include "rows/counters_settle.h"
#include "rows/hour_columns.h"

/* Every statement has the same parameters, as the rows k. */
#define ROWS                                                                                                        \
    " unnest($1::smallint[], $2::timestamptz[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[],"          \
    " $7::text[], $8::bigint[], $9::timestamptz[], $10::bigint[]) WITH ORDINALITY k (slot, hour, app_id, issue_id," \
    " version_id, tree, category, longest_ms, last_at, most_bytes, n)"
#define IS_HOUR    "t.slot = k.slot AND t.hour = k.hour AND t.app_id = k.app_id AND t.version_id = k.version_id"
#define IS_VERSION IS_HOUR " AND t.category = k.category"
#define IS_ISSUE   IS_HOUR " AND t.issue_id = k.issue_id AND t.tree = k.tree"
#define OF_HOUR                                                                                       \
    "e.app_id = k.app_id AND e.occurred_at >= k.hour AND e.occurred_at < k.hour + interval '1 h' AND" \
    " e.version_id = k.version_id"

struct settling {
    bool of_issues;
    const char *drop; /* the counters without reports */
    const char *find; /* the numbers of one row of each counter that may have lost its longest or newest */
    const char *most; /* what its events have, with the number of its row */
    const char *set;
};

static const struct settling versions = {
    false,
    "DELETE FROM version_hour t USING" ROWS " WHERE " IS_VERSION " AND t.reports <= 0",
    "SELECT min(k.n) FROM version_hour t JOIN" ROWS " ON " IS_VERSION
    " WHERE t.longest_ms <= k.longest_ms GROUP BY t.slot, t.hour, t.app_id, t.version_id, t.category",
    "SELECT k.n, max(e.waited_ms), max(e.occurred_at), 0::bigint FROM" ROWS " JOIN event e ON " OF_HOUR
    " AND e.category = k.category GROUP BY k.n",
    "UPDATE version_hour t SET longest_ms = k.longest_ms FROM" ROWS " WHERE " IS_VERSION,
};

static const struct settling issues = {
    true,
    "DELETE FROM issue_hour t USING" ROWS " WHERE " IS_ISSUE " AND t.reports <= 0",
    "SELECT min(k.n) FROM issue_hour t JOIN" ROWS " ON " IS_ISSUE " WHERE t.longest_ms <= k.longest_ms"
    " OR t.last_at <= k.last_at OR (k.most_bytes > 0 AND t.most_bytes <= k.most_bytes)"
    " GROUP BY t.slot, t.hour, t.app_id, t.issue_id, t.version_id, t.tree",
    "SELECT k.n, max(e.waited_ms), max(e.occurred_at), max(coalesce(e.subject_bytes, 0)) FROM" ROWS
    " JOIN event e ON " OF_HOUR " AND e.issue_id = k.issue_id AND e.tree = k.tree GROUP BY k.n",
    "UPDATE issue_hour t SET longest_ms = k.longest_ms, last_at = k.last_at, most_bytes = k.most_bytes FROM" ROWS
    " WHERE " IS_ISSUE,
};

static int run(struct pg_rows **rows_out, struct pg_tx *tx, const char *sql, struct hour_columns *c,
               const struct hour_row *hours, size_t count, bool of_issues)
{
    hour_columns_fill(c, hours, count, of_issues);
    return pg_query(rows_out, tx, sql, PG_INT2S(c->slots, count), PG_TIMES(c->hours, count), PG_INT4S(c->apps, count),
                    PG_INT8S(c->issues, count), PG_INT8S(c->versions, count), PG_INT4S(c->trees, count),
                    PG_TEXTS(c->categories, count), PG_INT8S(c->longest, count), PG_TIMES(c->last, count),
                    PG_INT8S(c->most, count));
}

/*
 * Search and set the longest and newest of counters, each of them once. One without events stays: retention dropped them.
 *   found  room for as many
 */
static int search(struct pg_tx *tx, const struct settling *of, struct hour_columns *c, struct hour_row *found,
                  const struct hour_row *hours, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = run(&rows, tx, of->most, c, hours, count, of->of_issues);
    size_t some = rc ? 0 : pg_row_count(rows);

    for (size_t i = 0; i < some; i++) {
        found[i] = hours[pg_int(rows, i, 0) - 1];
        found[i].longest_ms = pg_int(rows, i, 1);
        found[i].last_us = pg_time(rows, i, 2);
        found[i].most_bytes = pg_int(rows, i, 3);
    }
    return some ? run(NULL, tx, of->set, c, found, some, of->of_issues) : rc;
}

static int settle(struct pg_tx *tx, struct arena *arena, const struct settling *of, const struct hour_row *hours,
                  size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct hour_row *rest = arena_array(arena, count + 1, sizeof *rest);
    struct hour_row *found = arena_array(arena, count + 1, sizeof *found);
    struct hour_columns columns;

    if (!count)
        return 0;
    if (!rest || !found || !hour_columns_make(&columns, arena, count))
        return MIRE_FAULT_MEMORY;
    int rc = run(NULL, tx, of->drop, &columns, hours, count, of->of_issues);
    if (!rc)
        rc = run(&rows, tx, of->find, &columns, hours, count, of->of_issues);
    size_t left = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; i < left; i++)
        rest[i] = hours[pg_int(rows, i, 0) - 1];
    return left ? search(tx, of, &columns, found, rest, left) : rc;
}

int rows_version_hours_settle(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    return settle(tx, arena, &versions, hours, count);
}

int rows_issue_hours_settle(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    return settle(tx, arena, &issues, hours, count);
}
