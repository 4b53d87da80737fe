/* answered.c - see answered.h. */
#include "rows/answered.h"

#include "base/fault.h"
#include "rows/view_sql.h"

#define FIRST_PLUGIN 4 /* column */

/* clang-format off */
static const char sql[] =
    "SELECT channel, day, sum(records)::bigint, sum(sessions)::float8,"
    " coalesce(sum(sessions) FILTER (WHERE plugins & 1 <> 0), 0)::float8, coalesce(sum(sessions) FILTER (WHERE plugins & 2 <> 0), 0)::float8,"
    " coalesce(sum(sessions) FILTER (WHERE plugins & 4 <> 0), 0)::float8, coalesce(sum(sessions) FILTER (WHERE plugins & 8 <> 0), 0)::float8"
    " FROM session_day WHERE app_id = $1 AND day >= ($2 AT TIME ZONE 'UTC')::date AND slot = ANY ($3::smallint[])"
    " GROUP BY channel, day ORDER BY day, channel COLLATE \"C\"";
/* clang-format on */

int rows_answered_read(struct answered_day **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       int64_t since_us)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, sql, PG_INT4(app), PG_TIME(since_us), SLOT_PARAM);

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct answered_day *one = &(*out)[i];
        *one = (struct answered_day){.channel = arena_strdup(arena, pg_text(rows, i, 0)),
                                     .day = pg_day(rows, i, 1),
                                     .records = pg_int(rows, i, 2),
                                     .sessions = pg_real(rows, i, 3)};
        if (!one->channel)
            return MIRE_FAULT_MEMORY;
        for (int p = 0; p < ROWS_PLUGINS; p++)
            one->on[p] = pg_real(rows, i, FIRST_PLUGIN + p);
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
