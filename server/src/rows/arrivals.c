/* arrivals.c - the statement behind arrivals.h. */
#include "rows/arrivals.h"
#include "rows/rows.h"
#include "rows/view_sql.h"

#include "base/clock.h"

int rows_arrivals_read(struct arrivals **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       const char *kind, int64_t now_us)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT day, delay, sum(events) FROM arrival_day WHERE app_id = $1 AND slot = ANY ($2::smallint[])"
                 " AND day > $3 AND kind = $4 GROUP BY 1, 2 ORDER BY 1",
                 PG_INT4(app), SLOT_PARAM, PG_DAY(clock_day(now_us) - MIRE_COMPLETENESS_DAYS), PG_TEXT(kind));
    if (rc != 0)
        return rc;
    *count = 0;
    *out = arena_array(arena, pg_row_count(rows) + 1, sizeof **out);
    for (size_t i = 0; *out && i < pg_row_count(rows); i++) {
        int32_t day = pg_day(rows, i, 0);
        int64_t delay = pg_int(rows, i, 1);
        if (!*count || (*out)[*count - 1].day != day)
            (*out)[(*count)++] = (struct arrivals){.day = day};
        if (delay >= 0 && delay < MIRE_DELAY_BUCKETS)
            (*out)[*count - 1].events[delay] = pg_real(rows, i, 2);
    }

    return *out ? 0 : MIRE_FAULT_MEMORY;
}
