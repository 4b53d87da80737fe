/* known.c - the statements behind known.h. */
#include "rows/known.h"

#include "base/fault.h"
#include "rows/view_sql.h"

#include <string.h>

const char *const known_kinds[MIRE_KNOWN_KINDS] = {
    [MIRE_KNOWN_VERSION] = "version",
    [MIRE_KNOWN_CHANNEL] = "channel",
    [MIRE_KNOWN_CLASS] = "class",
    [MIRE_KNOWN_ISSUE] = "issue",
};

/* New values are taken in by rising value, so that workers lock them in one order. */
static const char take[] =
    "WITH asked AS (SELECT value, min(n) AS n FROM unnest($3::text[]) WITH ORDINALITY u (value, n) GROUP BY value),"
    " fresh AS (SELECT value FROM asked WHERE NOT EXISTS (SELECT FROM known_value k WHERE k.app_id = $1 AND k.kind = $2"
    "  AND k.value = asked.value) ORDER BY n LIMIT CASE WHEN $4 = 0 THEN NULL ELSE greatest($4 - (SELECT count(*)"
    "  FROM known_value k WHERE k.app_id = $1 AND k.kind = $2 AND k.day = " TODAY "), 0) END),"
    " taken AS (INSERT INTO known_value (app_id, kind, value, day) SELECT $1, $2, value, " TODAY
    "  FROM fresh ORDER BY value ON CONFLICT DO NOTHING)"
    " SELECT n FROM unnest($3::text[]) WITH ORDINALITY u (value, n) WHERE value IN (SELECT value FROM fresh)"
    "  OR EXISTS (SELECT FROM known_value k WHERE k.app_id = $1 AND k.kind = $2 AND k.value = u.value)";

int rows_known_take(bool *known_out, struct pg_tx *tx, int32_t app_id, enum known_kind kind, const char *const *values,
                    size_t count, int64_t most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;

    memset(known_out, 0, count * sizeof *known_out);
    if (!count)
        return 0;
    int rc =
        pg_query(&rows, tx, take, PG_INT4(app_id), PG_TEXT(known_kinds[kind]), PG_TEXTS(values, count), PG_INT8(most));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        known_out[pg_int(rows, i, 0) - 1] = true;
    return rc;
}

int rows_put_aside_add(struct pg_tx *tx, int32_t app_id, const int64_t reports[MIRE_KNOWN_KINDS])
{
    int64_t some = 0;

    for (int i = 0; i < MIRE_KNOWN_KINDS; i++)
        some |= reports[i];
    return some
               ? pg_query(NULL, tx,
                          "INSERT INTO put_aside_day AS t (app_id, day, kind, reports) SELECT $1, " TODAY
                          ", kind, reports FROM unnest($2::text[], $3::bigint[]) u (kind, reports) WHERE reports > 0"
                          " ORDER BY kind ON CONFLICT (app_id, day, kind) DO UPDATE SET"
                          " reports = t.reports + EXCLUDED.reports",
                          PG_INT4(app_id), PG_TEXTS(known_kinds, MIRE_KNOWN_KINDS), PG_INT8S(reports, MIRE_KNOWN_KINDS))
               : 0;
}

int rows_put_aside_read(int64_t out[MIRE_KNOWN_KINDS], struct pg_tx *tx, const struct view *view)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT kind, sum(reports)::bigint FROM put_aside_day WHERE app_id = $1"
                 " AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date + 1 GROUP BY 1",
                 PG_INT4(view->app), PG_TIME(view->span.from_s * 1000000), PG_TIME(view->span.to_s * 1000000));

    memset(out, 0, MIRE_KNOWN_KINDS * sizeof *out);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        for (int kind = 0; kind < MIRE_KNOWN_KINDS; kind++)
            if (!strcmp(known_kinds[kind], pg_text(rows, i, 0)))
                out[kind] = pg_int(rows, i, 1);
    return rc;
}
