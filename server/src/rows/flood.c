/* flood.c - the statements behind flood.h. */
#include "rows/flood.h"

#include "rows/view_sql.h"

/* A sample of pages: a day has millions of reports, and their share by key needs some ten thousand. */
static int read_key(struct flood *flood, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(nullif(k.label, ''), k.prefix), n::float8 / sum(n) OVER () FROM"
                      " (SELECT key_id, count(*) AS n FROM report TABLESAMPLE SYSTEM ((SELECT least(100, 1000000 /"
                      "  greatest(1, coalesce(max(c.reltuples), 1))) FROM pg_class c WHERE c.oid ="
                      "  to_regclass('report_' || to_char(" TODAY ", 'YYYYMMDD'))))"
                      "  WHERE day = " TODAY " AND app_id = $1 GROUP BY key_id) s"
                      " LEFT JOIN access_key k USING (key_id) ORDER BY n DESC, key_id LIMIT 1",
                      PG_INT4(app));
    if (rc)
        return rc;
    flood->key = "";
    if (!pg_row_count(rows) || pg_is_null(rows, 0, 0))
        return 0;
    flood->key = arena_strdup(arena, pg_text(rows, 0, 0));
    flood->key_share = pg_real(rows, 0, 1);
    return flood->key ? 0 : MIRE_FAULT_MEMORY;
}

int rows_floods_read(struct flood **out, size_t *count, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT app_id, slug, stored, often, beyond FROM (SELECT app_id,"
                      "  coalesce(sum(reports) FILTER (WHERE outcome = 'stored'), 0)::int8 AS stored,"
                      "  coalesce(sum(reports) FILTER (WHERE outcome = 'too_often'), 0)::int8 AS often,"
                      "  coalesce(sum(reports) FILTER (WHERE outcome = 'quota'), 0)::int8 AS beyond"
                      "  FROM door_day WHERE day = " TODAY " GROUP BY app_id) d JOIN app USING (app_id)"
                      " WHERE often + beyond > 0 ORDER BY often + beyond DESC, app_id LIMIT $1",
                      PG_INT4(MIRE_FLOODS_MAX));
    *count = 0;
    if (rc)
        return rc;
    struct flood *floods = arena_array(arena, MIRE_FLOODS_MAX, sizeof *floods);
    if (!floods)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        floods[i] = (struct flood){.app = arena_strdup(arena, pg_text(rows, i, 1)),
                                   .stored = pg_int(rows, i, 2),
                                   .too_often = pg_int(rows, i, 3),
                                   .beyond = pg_int(rows, i, 4)};
        rc = floods[i].app ? read_key(&floods[i], tx, arena, (int32_t)pg_int(rows, i, 0)) : MIRE_FAULT_MEMORY;
    }
    *out = floods;
    *count = rc ? 0 : pg_row_count(rows);
    return rc;
}
