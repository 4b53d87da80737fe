/*
 * governor.h - keeps the library's own CPU time within its budget by sampling less often.
 *
 *     spent over budget_minute_ms > budget_ppm of it      -> period doubled
 *     spent over a second         > budget_peak_ppm of it -> period doubled at once
 *     both far below              -> period halved
 *
 * The governor keeps a debt: CPU time adds to it, and time pays it off at the rate of the budget. So a burst within the
 * budget of a minute is free, and after an expensive hang sampling is rarer until the debt is paid.
 *
 * Pure: time and CPU time are arguments. Thread: check thread. The memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_GOVERNOR_H
#define MIRE_CAPTURE_GOVERNOR_H

#include "capture/settings.h"

#define MIRE_GOVERNOR_SHIFT_MAX 6 /* the period is at most 64 times as long: 3.2 s instead of 50 ms */

struct governor {
    uint64_t looked_ns; /* time of the last call; 0: none */
    uint64_t spent_ns;  /* CPU time spent by then */
    uint64_t debt_ns;
    uint32_t shift; /* periods are << shift */
    uint32_t unused;
    uint64_t raised_count; /* how often the period was doubled, since start */
};

/*
 * The current shift of sampling periods. It changes at most once a second, so this may be called at every sample.
 *
 *   now_ns    CLOCK_MONOTONIC
 *   spent_ns  the library's CPU time since the start: of the check thread, and in the signal handler
 *
 * Returns 0..MIRE_GOVERNOR_SHIFT_MAX.
 */
uint32_t mire__governor_shift(struct governor *governor, uint64_t now_ns, uint64_t spent_ns,
                              const struct capture_settings *settings);

#endif
