/*
 * rates.h - sessions and losses by version and day. App, version, and the days of the span apply.
 */
#ifndef MIRE_ROWS_RATES_H
#define MIRE_ROWS_RATES_H

#include "base/arena.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

struct session_sums { /* as in session_day and session_end_day */
    int64_t records;
    double sessions, sessions_sq, time_ms, sdk_cpu_us;
    double watched, watched_sq, watched_ms, lagging, hangs, hang_ms, hang_hang_sq, hang_time_sq, time_time_sq;
    double ends, ends_sq, foom, watchdog, crash;
};

struct session_point {
    const char *version; /* "": the sum of all versions, in the first row */
    bool has_day;        /* false: all days together, in a version's first row */
    int32_t day;
    struct session_sums sums;
};

/* The sum of all, then day by day of the MIRE_SERIES_MAX versions with most sessions. */
int rows_sessions_read(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                       const struct view *view, const struct filter *channel);

/* The same for every version, at most MIRE_SESSION_VERSIONS_MAX. */
#define MIRE_SESSION_VERSIONS_MAX 1000
int rows_sessions_each_read(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view, const struct filter *channel);

/* Ends of runs by version and verdict, of the versions whose ends are known, in the order of bytes. */
struct end_sum {
    const char *version, *verdict; /* a verdict as exit_counted has it */
    double ends;
};
int rows_ends_read(struct end_sum **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                   const struct filter *channel);

/* Losses that devices reported, most first. App, version, and the days of the span apply. */
struct loss_sum {
    const char *reason;
    int64_t lost;
};
int rows_losses_read(struct loss_sum **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                     const struct view *view);

#endif
