/*
 * governor.h - keeps the library's own CPU time within its budget by sampling less often.
 *
 *     spent over budget_minute_ms > budget_ppm of it      -> period doubled
 *     spent over a second         > budget_peak_ppm of it -> period doubled at once
 *     both far below              -> halved again
 *
 * A debt is kept: what is spent adds to it, time pays it off at the budget's rate. So a burst within the minute's
 * budget is free, and what follows an expensive hang is watched cheaper until it is paid.
 *
 * Pure: time and what was spent come in as arguments. Thread: check thread. Memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_GOVERNOR_H
#define MIRE_CAPTURE_GOVERNOR_H

#include "capture/settings.h"

#define MIRE_GOVERNOR_SHIFT_MAX 6 /* the period is at most 64 times as long: 3.2 s instead of 50 ms */

struct governor {
    uint64_t looked_ns; /* when it was asked last; 0 never */
    uint64_t spent_ns;  /* what had been spent by then */
    uint64_t debt_ns;
    uint32_t shift; /* periods are << shift */
    uint32_t unused;
    uint64_t raised_count; /* how often the period was doubled, since start */
};

/*
 * By how much to shift sampling periods now. Decides once a second at most, so it may be asked at every sample.
 *
 *   now_ns    CLOCK_MONOTONIC
 *   spent_ns  what the library has cost since start: CPU time of its check thread and time in its signal handler
 *
 * Returns 0..MIRE_GOVERNOR_SHIFT_MAX.
 */
uint32_t mire__governor_shift(struct governor *governor, uint64_t now_ns, uint64_t spent_ns,
                              const struct capture_settings *settings);

#endif
