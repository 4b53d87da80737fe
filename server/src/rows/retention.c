/* retention.c - the statements behind retention.h: the same limits as in postgres/partition.c. */
#include "rows/retention.h"

/* A device's clock may be wrong: the age of a row of report_other is that of its receipt. */
int rows_retention_read(struct retention_app **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                        int32_t keep_days, int32_t ahead_days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT a.slug, a.keep, count(r.report_id), coalesce(sum(octet_length(r.body)), 0)::int8,"
                 " count(DISTINCT r.day), coalesce(min(r.day), current_date)"
                 " FROM (SELECT app_id, slug, coalesce(retention_days, $1) AS keep FROM app) a"
                 " LEFT JOIN report r ON r.app_id = a.app_id AND a.keep > 0"
                 "  AND CASE WHEN r.tableoid = 'report_other'::regclass THEN r.received_at < current_date + $2 - a.keep"
                 "   ELSE r.day < current_date + $2 - a.keep END"
                 " GROUP BY a.slug, a.keep ORDER BY a.slug",
                 PG_INT4(keep_days), PG_INT4(ahead_days));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct retention_app){.slug = arena_strdup(arena, pg_text(rows, i, 0)),
                                           .keep_days = pg_int(rows, i, 1),
                                           .reports = pg_int(rows, i, 2),
                                           .bytes = pg_int(rows, i, 3),
                                           .days = pg_int(rows, i, 4),
                                           .oldest = pg_day(rows, i, 5)};
        if (!(*out)[i].slug)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_retention_rest(struct retention_rest *out, struct pg_tx *tx, int32_t unused_days, int32_t ahead_days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT (SELECT count(*) FROM inbox i WHERE NOT EXISTS (SELECT FROM report r WHERE r.slot = i.slot"
                 "  AND r.day = i.day AND r.report_id = i.report_id)),"
                 " (SELECT count(*) FROM dead_letter u WHERE NOT EXISTS (SELECT FROM report r WHERE r.slot = u.slot"
                 "  AND r.day = u.day AND r.report_id = u.report_id)),"
                 " (SELECT coalesce(sum(octet_length(bytes)), 0)::int8 FROM symbol_chunk"
                 "  WHERE hash NOT IN (SELECT hash FROM symbol_file)),"
                 " (SELECT count(*) FROM symbol_upload WHERE begun_at < now() - interval '1 day'),"
                 " (SELECT count(*) FROM symbol_file WHERE $1 > 0 AND used_on < current_date + $2 - $1)",
                 PG_INT4(unused_days), PG_INT4(ahead_days));
    if (!rc)
        *out = (struct retention_rest){pg_int(rows, 0, 0), pg_int(rows, 0, 1), pg_int(rows, 0, 2), pg_int(rows, 0, 3),
                                       pg_int(rows, 0, 4)};
    return rc;
}
