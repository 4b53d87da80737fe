/* session.c - the statements behind session.h. */
#include "rows/session.h"

int rows_session_store(bool *new_out, struct pg_tx *tx, const struct session_row *session)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct uuid id;
    __builtin_memcpy(id.bytes, session->key.report_id, sizeof id.bytes);
    int rc = pg_query(
        &rows, tx,
        "INSERT INTO session (slot, day, report_id, app_id, version_id, received_at, occurred_at, install, channel, "
        "plugins,"
        " part, over, duration_ms, foreground_ms, hangs, hang_ms, sdk_cpu_us, weight, loop)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, nullif($14, -1), $15, $16, $17, $18, $19)"
        " ON CONFLICT (slot, day, report_id) DO NOTHING",
        PG_INT2(session->key.slot), PG_DAY(session->key.day), PG_UUID(&id), PG_INT4(session->app_id),
        PG_INT8(session->version_id), PG_TIME(session->received_us), PG_TIME(session->occurred_us),
        PG_BYTES(session->install, sizeof session->install), PG_TEXT(session->channel), PG_INT2(session->plugins),
        PG_INT4((int32_t)session->part), PG_BOOL(session->over), PG_INT8(session->duration_ms),
        PG_INT8(session->foreground_ms), PG_INT8(session->hangs), PG_INT8(session->hang_ms),
        PG_INT8(session->sdk_cpu_us), PG_REAL(session->weight), PG_BOOL(session->loop));
    if (!rc)
        *new_out = pg_touched(rows) > 0;
    return rc;
}

int rows_session_add(struct pg_tx *tx, const struct session_row *session)
{
    double w = session->weight, v = session->watched_weight, t = session->time_ms, h = (double)session->hang_ms;
    return pg_query(
        NULL, tx,
        "INSERT INTO session_day AS t (slot, day, app_id, version_id, channel, plugins, records, sessions, sessions_sq,"
        " time_ms, sdk_cpu_us, watched, watched_sq, watched_ms, lagging, hangs, hang_ms, hang_hang_sq, hang_time_sq,"
        " time_time_sq)"
        " VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"
        " ON CONFLICT (slot, day, app_id, version_id, channel, plugins) DO UPDATE SET records = t.records + 1,"
        " sessions = t.sessions + EXCLUDED.sessions, sessions_sq = t.sessions_sq + EXCLUDED.sessions_sq,"
        " time_ms = t.time_ms + EXCLUDED.time_ms, sdk_cpu_us = t.sdk_cpu_us + EXCLUDED.sdk_cpu_us,"
        " watched = t.watched + EXCLUDED.watched, watched_sq = t.watched_sq + EXCLUDED.watched_sq,"
        " watched_ms = t.watched_ms + EXCLUDED.watched_ms, lagging = t.lagging + EXCLUDED.lagging,"
        " hangs = t.hangs + EXCLUDED.hangs, hang_ms = t.hang_ms + EXCLUDED.hang_ms,"
        " hang_hang_sq = t.hang_hang_sq + EXCLUDED.hang_hang_sq, hang_time_sq = t.hang_time_sq + EXCLUDED.hang_time_sq,"
        " time_time_sq = t.time_time_sq + EXCLUDED.time_time_sq",
        PG_INT2(session->key.slot), PG_DAY(session->occurred_day), PG_INT4(session->app_id),
        PG_INT8(session->version_id), PG_TEXT(session->channel), PG_INT2(session->plugins), PG_REAL(w), PG_REAL(w * w),
        PG_REAL(w * t), PG_REAL(w * (double)session->sdk_cpu_us), PG_REAL(v), PG_REAL(v * v), PG_REAL(v * t),
        PG_REAL(session->hangs > 0 ? v : 0), PG_REAL(v * (double)session->hangs), PG_REAL(v * h),
        PG_REAL(v * v * h * h), PG_REAL(v * v * h * t), PG_REAL(v * v * t * t));
}

int rows_session_end_add(struct pg_tx *tx, const struct session_row *session, const char *const *verdicts,
                         const double *counts, size_t count)
{
    if (!count)
        return 0;
    return pg_query(
        NULL, tx,
        "INSERT INTO session_end_day AS t (slot, day, app_id, version_id, channel, plugins, verdict, ends, ends_sq)"
        " SELECT $1, $2, $3, $4, $5, $6, e.verdict, e.n * $9, e.n * $9 * $9"
        " FROM unnest($7::text[], $8::float8[]) e (verdict, n) ORDER BY e.verdict"
        " ON CONFLICT (slot, day, app_id, version_id, channel, plugins, verdict)"
        " DO UPDATE SET ends = t.ends + EXCLUDED.ends, ends_sq = t.ends_sq + EXCLUDED.ends_sq",
        PG_INT2(session->key.slot), PG_DAY(session->occurred_day), PG_INT4(session->app_id),
        PG_INT8(session->version_id), PG_TEXT(session->channel), PG_INT2(session->plugins), PG_TEXTS(verdicts, count),
        PG_REALS(counts, count), PG_REAL(session->weight));
}
