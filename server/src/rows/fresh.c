/* fresh.c - the statements behind fresh.h. */
#include "rows/fresh.h"

/* A merge into an issue does not bind it; one of it, or a split, does, also when it was undone. */
#define NOBODY_TOUCHED(issue) \
    "NOT EXISTS (SELECT FROM issue_alias x WHERE x.app_id = i.app_id AND x.issue_id = " issue ")"

static const char newest_sql[] = "SELECT coalesce(max(issue_id), 0) FROM issue";
static const char list_sql[] =
    "SELECT i.app_id, i.issue_id, a.merge_above::float8 FROM app a JOIN issue i USING (app_id)"
    " WHERE a.merge_above IS NOT NULL AND i.issue_id > $1 AND i.state = 'open' AND i.gone_to IS NULL"
    " AND " NOBODY_TOUCHED("i.issue_id") " ORDER BY i.issue_id";
static const char free_sql[] = "SELECT FROM issue i WHERE i.app_id = $1 AND i.issue_id = $2 AND i.gone_to IS NULL"
                               " AND " NOBODY_TOUCHED("$2") " AND " NOBODY_TOUCHED("$3");

int rows_fresh_list(struct fresh_issue **out, size_t *count, int64_t *newest_out, struct pg_tx *tx, struct arena *arena,
                    int64_t since)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *newest = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&newest, tx, newest_sql);

    if (rc)
        return rc;
    *newest_out = pg_int(newest, 0, 0);
    if (since < *newest_out - MIRE_FRESH_MAX)
        since = *newest_out - MIRE_FRESH_MAX;
    rc = pg_query(&rows, tx, list_sql, PG_INT8(since));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct fresh_issue){(int32_t)pg_int(rows, i, 0), pg_int(rows, i, 1), pg_real(rows, i, 2)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_fresh_is_free(bool *out, struct pg_tx *tx, int32_t app, int64_t issue, int64_t into)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, free_sql, PG_INT4(app), PG_INT8(issue), PG_INT8(into));

    *out = !rc && pg_row_count(rows) > 0;
    return rc;
}
