/*
 * ramp.h - ramps as rows, and the observations for their guards. Every function runs inside the caller's transaction.
 */
#ifndef MIRE_ROWS_RAMP_H
#define MIRE_ROWS_RAMP_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_PG_RAMPS_MAX 64 /* in one answer */
#define MIRE_PG_STEPS_MAX 16

struct rows_ramp {
    int32_t app;
    const char *plugin, *rule, *author, *state, *note; /* in the arena */
    int32_t steps[MIRE_PG_STEPS_MAX];
    size_t step_count;
    int64_t hold_s;
    double crash_points, cpu_percent, reports_per_hour;
    bool backs;
    int32_t before_ppm;
    int32_t step;
    int64_t step_since_us, looked_us;
    int64_t tripped_us; /* when a guard tripped; 0: none did, or a person has acted since */
};

/* One arm of a ramp: the sessions with the plugin on, or off, since a day, in channels that have both. */
struct rows_arm {
    int64_t records;
    double ends, ends_sq, bad, time_ms, sdk_cpu_us;
};

/* Store a ramp, and replace an older one of the same plugin. 0 or a fault. */
int rows_ramp_put(struct pg_tx *tx, const struct rows_ramp *ramp);

/* The ramps of an app, by plugin. 0 or a fault. */
int rows_ramp_list(struct rows_ramp **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* The running ramp of any app whose last check is the oldest, before `before_us`. Its row is locked until the
 * transaction ends. 1 found, 0 none, below zero a fault. */
int rows_ramp_claim(struct rows_ramp *out, struct pg_tx *tx, struct arena *arena, int64_t before_us);

/* Both arms of a ramp since the day of `since_us`; bit: of the plugin in session_day.plugins. 0 or a fault. */
int rows_ramp_arms(struct rows_arm *sampled, struct rows_arm *control, struct pg_tx *tx, int32_t app, int32_t bit,
                   int64_t since_us);

/* Reports of an app in the last whole hour before `now_us`. 0 or a fault. */
int rows_ramp_load(double *out, struct pg_tx *tx, int32_t app, int64_t now_us);

#endif
