/* enough.c - the statements behind enough.h. */
#include "rows/enough.h"

#include "base/fault.h"
#include "rows/keys.h"

int rows_enough_limit_read(int64_t *limit_out, struct pg_tx *tx, int32_t app_id, int64_t server)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT coalesce(enough_per_issue_day, $2) FROM app WHERE app_id = $1",
                      PG_INT4(app_id), PG_INT8(server));
    *limit_out = !rc && pg_row_count(rows) ? pg_int(rows, 0, 0) : server;
    return rc;
}

int rows_enough_read(struct rows_enough *of, size_t count, struct pg_tx *tx, struct arena *arena, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues);
    int64_t *versions = arena_array(arena, count + 1, sizeof *versions);
    int32_t *days = arena_array(arena, count + 1, sizeof *days);

    if (!count)
        return 0;
    if (!issues || !versions || !days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        issues[i] = of[i].issue_id;
        versions[i] = of[i].version_id;
        days[i] = of[i].day;
        of[i].reports = 0;
    }
    int rc = pg_query(&rows, tx,
                      "SELECT l.n, sum(t.reports)::bigint FROM unnest($2::bigint[], $3::bigint[], $4::date[])"
                      " WITH ORDINALITY l (issue_id, version_id, day, n) JOIN issue_hour t ON t.app_id = $1"
                      " AND t.issue_id = l.issue_id AND t.hour >= l.day AT TIME ZONE 'UTC'"
                      " AND t.hour < (l.day + 1) AT TIME ZONE 'UTC' AND t.version_id = l.version_id GROUP BY l.n",
                      PG_INT4(app_id), PG_INT8S(issues, count), PG_INT8S(versions, count), PG_DAYS(days, count));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        of[pg_int(rows, i, 0) - 1].reports = pg_int(rows, i, 1);
    return rc;
}

int rows_reports_cut(struct pg_tx *tx, struct arena *arena, const struct rows_cut *cuts, size_t count)
{
    struct key_columns keys;
    struct pg_bytes *bodies = arena_array(arena, count + 1, sizeof *bodies);

    if (!count)
        return 0;
    if (!keys_make(&keys, arena, count) || !bodies)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys_put(&keys, i, &cuts[i].key);
        bodies[i] = cuts[i].body;
    }
    return pg_query(NULL, tx,
                    "UPDATE report r SET format = 'mire', encoding = 'zstd', body = k.body"
                    " FROM unnest($1::smallint[], $2::date[], $3::uuid[], $4::bytea[]) k (slot, day, report_id, body)"
                    " WHERE " IS_KEY("r"),
                    KEY_PARAMS(keys, count), PG_BYTESS(bodies, count));
}
