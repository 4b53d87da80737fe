/* rates.c - sessions by version and day; losses of devices. */
#include "rows/rates.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

/* clang-format off */
static const char losses_sql[] =
    "SELECT reason, sum(lost)::bigint FROM loss_day JOIN version USING (version_id, app_id) WHERE " SESSION_DAY_IN_VIEW
    " GROUP BY reason ORDER BY 2 DESC, reason COLLATE \"C\"";
static const char ends_sql[] =
    "SELECT version, verdict, sum(ends)::float8 FROM session_end_day JOIN version USING (version_id, app_id)"
    " WHERE " SESSION_DAY_IN_VIEW " AND " IS_WANTED("channel", "$7", "$8")
    " GROUP BY 1, 2 ORDER BY version COLLATE \"C\", verdict COLLATE \"C\" LIMIT $9";
/* clang-format on */

#define ENDS_MAX 2000 /* versions and verdicts together */

static void take(struct session_sums *out, const struct pg_rows *rows, size_t i)
{
    *out = (struct session_sums){
        .records = pg_int(rows, i, 3),
        .sessions = pg_real(rows, i, 4),
        .sessions_sq = pg_real(rows, i, 5),
        .time_ms = pg_real(rows, i, 6),
        .sdk_cpu_us = pg_real(rows, i, 7),
        .watched = pg_real(rows, i, 8),
        .watched_sq = pg_real(rows, i, 9),
        .watched_ms = pg_real(rows, i, 10),
        .lagging = pg_real(rows, i, 11),
        .hangs = pg_real(rows, i, 12),
        .hang_ms = pg_real(rows, i, 13),
        .hang_hang_sq = pg_real(rows, i, 14),
        .hang_time_sq = pg_real(rows, i, 15),
        .time_time_sq = pg_real(rows, i, 16),
        .ends = pg_real(rows, i, 17),
        .ends_sq = pg_real(rows, i, 18),
        .foom = pg_real(rows, i, 19),
        .watchdog = pg_real(rows, i, 20),
        .crash = pg_real(rows, i, 21),
    };
}

static int read_sessions(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         const struct view *view, const struct filter *channel, int64_t versions)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    const char *sql = SQL_FILL(arena, sql_session_rates, {"day_in_view", SESSION_DAY_IN_VIEW},
                               {"channel_wanted", IS_WANTED("channel", "$7", "$8")});
    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(channel), PG_INT8(versions));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        if (!*out || !((*out)[i].version = arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
        (*out)[i].has_day = pg_bool(rows, i, 1);
        (*out)[i].day = pg_day(rows, i, 2);
        take(&(*out)[i].sums, rows, i);
    }

    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_sessions_read(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                       const struct view *view, const struct filter *channel)
{
    return read_sessions(out, count, tx, arena, view, channel, MIRE_SERIES_MAX);
}

int rows_sessions_each_read(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view, const struct filter *channel)
{
    return read_sessions(out, count, tx, arena, view, channel, MIRE_SESSION_VERSIONS_MAX);
}

int rows_ends_read(struct end_sum **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                   const struct filter *channel)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, ends_sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(channel), PG_INT8(ENDS_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct end_sum){arena_strdup(arena, pg_text(rows, i, 0)), arena_strdup(arena, pg_text(rows, i, 1)),
                                     pg_real(rows, i, 2)};
        if (!(*out)[i].version || !(*out)[i].verdict)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_losses_read(struct loss_sum **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                     const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, losses_sql, VIEW_PARAMS(view), SLOT_PARAM);
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    if (!*out)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = (struct loss_sum){arena_strdup(arena, pg_text(rows, i, 0)), pg_int(rows, i, 1)};
        if (!(*out)[i].reason)
            return MIRE_FAULT_MEMORY;
    }

    return 0;
}
