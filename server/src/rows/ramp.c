/* ramp.c - the statements behind ramp.h. */
#include "rows/ramp.h"

#include <stdio.h>
#include <stdlib.h>

/* Arrays come back as text: "{100,1000}". */
#define COLUMNS                                                                                                  \
    "app_id, plugin, rule, author, state, note, array_to_string(steps, ','), hold_s, crash_points, cpu_percent," \
    " reports_per_hour, backs, before_ppm, step, step_since, looked_at, coalesce(tripped_at, 'epoch')"

static int take(struct rows_ramp *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char *steps = pg_text(rows, row, 6);

    *out = (struct rows_ramp){.app = (int32_t)pg_int(rows, row, 0),
                              .plugin = arena_strdup(arena, pg_text(rows, row, 1)),
                              .rule = arena_strdup(arena, pg_text(rows, row, 2)),
                              .author = arena_strdup(arena, pg_text(rows, row, 3)),
                              .state = arena_strdup(arena, pg_text(rows, row, 4)),
                              .note = arena_strdup(arena, pg_text(rows, row, 5)),
                              .hold_s = pg_int(rows, row, 7),
                              .crash_points = pg_real(rows, row, 8),
                              .cpu_percent = pg_real(rows, row, 9),
                              .reports_per_hour = pg_real(rows, row, 10),
                              .backs = pg_bool(rows, row, 11),
                              .before_ppm = (int32_t)pg_int(rows, row, 12),
                              .step = (int32_t)pg_int(rows, row, 13),
                              .step_since_us = pg_time(rows, row, 14),
                              .looked_us = pg_time(rows, row, 15),
                              .tripped_us = pg_time(rows, row, 16)};
    while (*steps && out->step_count < MIRE_PG_STEPS_MAX) {
        char *end;
        out->steps[out->step_count++] = (int32_t)strtol(steps, &end, 10);
        steps = *end ? end + 1 : end;
    }

    return out->plugin && out->rule && out->author && out->state && out->note ? 0 : MIRE_FAULT_MEMORY;
}

int rows_ramp_put(struct pg_tx *tx, const struct rows_ramp *ramp)
{
    return pg_query(
        NULL, tx,
        "INSERT INTO rollout_ramp (app_id, plugin, rule, author, state, note, steps, hold_s, crash_points, cpu_percent,"
        " reports_per_hour, backs, before_ppm, step, step_since, looked_at, tripped_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, nullif($17::timestamptz, "
        "'epoch'))"
        " ON CONFLICT (app_id, plugin) DO UPDATE SET rule = EXCLUDED.rule, author = EXCLUDED.author,"
        " state = EXCLUDED.state, note = EXCLUDED.note, steps = EXCLUDED.steps, hold_s = EXCLUDED.hold_s,"
        " crash_points = EXCLUDED.crash_points, cpu_percent = EXCLUDED.cpu_percent,"
        " reports_per_hour = EXCLUDED.reports_per_hour, backs = EXCLUDED.backs, before_ppm = EXCLUDED.before_ppm,"
        " step = EXCLUDED.step, step_since = EXCLUDED.step_since, looked_at = EXCLUDED.looked_at, tripped_at = "
        "EXCLUDED.tripped_at",
        PG_INT4(ramp->app), PG_TEXT(ramp->plugin), PG_TEXT(ramp->rule), PG_TEXT(ramp->author), PG_TEXT(ramp->state),
        PG_TEXT(ramp->note), PG_INT4S(ramp->steps, ramp->step_count), PG_INT8(ramp->hold_s),
        PG_REAL(ramp->crash_points), PG_REAL(ramp->cpu_percent), PG_REAL(ramp->reports_per_hour), PG_BOOL(ramp->backs),
        PG_INT4(ramp->before_ppm), PG_INT4(ramp->step), PG_TIME(ramp->step_since_us), PG_TIME(ramp->looked_us),
        PG_TIME(ramp->tripped_us));
}

int rows_ramp_list(struct rows_ramp **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT " COLUMNS " FROM rollout_ramp WHERE app_id = $1 ORDER BY plugin LIMIT $2",
                      PG_INT4(app), PG_INT8(MIRE_PG_RAMPS_MAX));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take(&(*out)[i], arena, rows, i);
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_ramp_claim(struct rows_ramp *out, struct pg_tx *tx, struct arena *arena, int64_t before_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " COLUMNS " FROM rollout_ramp WHERE state = 'running' AND looked_at < $1"
                      " ORDER BY looked_at LIMIT 1 FOR UPDATE SKIP LOCKED",
                      PG_TIME(before_us));
    if (rc || !pg_row_count(rows))
        return rc;
    rc = take(out, arena, rows, 0);
    return rc ? rc : 1;
}

int rows_ramp_arms(struct rows_arm *sampled, struct rows_arm *control, struct pg_tx *tx, int32_t app, int32_t bit,
                   int64_t since_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "WITH s AS (SELECT channel, (plugins & $2) <> 0 AS sampled, sum(records) AS records, sum(time_ms) AS time_ms,"
        "   sum(sdk_cpu_us) AS sdk_cpu_us FROM session_day"
        "   WHERE app_id = $1 AND day >= ($3 AT TIME ZONE 'UTC')::date GROUP BY 1, 2),"
        " e AS (SELECT channel, (plugins & $2) <> 0 AS sampled, sum(ends) AS ends, sum(ends_sq) AS ends_sq,"
        "   coalesce(sum(ends) FILTER (WHERE verdict IN ('crash', 'abort', 'foom', 'watchdog_kill')), 0) AS bad"
        "   FROM session_end_day WHERE app_id = $1 AND day >= ($3 AT TIME ZONE 'UTC')::date GROUP BY 1, 2),"
        " paired AS (SELECT channel FROM s GROUP BY 1 HAVING count(*) = 2)"
        " SELECT s.sampled, sum(records)::bigint, coalesce(sum(ends), 0), coalesce(sum(ends_sq), 0), "
        "coalesce(sum(bad), 0),"
        "  sum(time_ms), sum(sdk_cpu_us) FROM s JOIN paired USING (channel)"
        "  LEFT JOIN e ON e.channel = s.channel AND e.sampled = s.sampled GROUP BY 1",
        PG_INT4(app), PG_INT4(bit), PG_TIME(since_us));
    *sampled = *control = (struct rows_arm){0};
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        *(pg_bool(rows, i, 0) ? sampled : control) = (struct rows_arm){.records = pg_int(rows, i, 1),
                                                                       .ends = pg_real(rows, i, 2),
                                                                       .ends_sq = pg_real(rows, i, 3),
                                                                       .bad = pg_real(rows, i, 4),
                                                                       .time_ms = pg_real(rows, i, 5),
                                                                       .sdk_cpu_us = pg_real(rows, i, 6)};
    return rc;
}

int rows_ramp_load(double *out, struct pg_tx *tx, int32_t app, int64_t now_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(sum(reports), 0)::float8 FROM version_hour WHERE app_id = $1"
                      " AND hour = date_trunc('hour', $2::timestamptz, 'UTC') - interval '1 hour'",
                      PG_INT4(app), PG_TIME(now_us));
    if (!rc)
        *out = pg_real(rows, 0, 0);
    return rc;
}
