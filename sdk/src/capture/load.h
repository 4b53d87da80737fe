/*
 * load.h - compares the growth of a counter (CPU time, bytes) within a sliding window with a limit.
 *
 *     BELOW --half the limit within a window--> NEAR --the limit within a window, and for long enough--> OVER
 *
 * From NEAR on stacks are sampled, so that an event has them. Only growth between two readings within one window
 * counts, so OVER is never wrong; it may come one reading late.
 *
 * Pure: time and amounts are arguments. Thread: check thread. The memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_LOAD_H
#define MIRE_CAPTURE_LOAD_H

#include "base/base.h"

#define MIRE_LOAD_READINGS 36 /* per window: two for each 16th of it, and some to spare */

enum mire__load { MIRE_LOAD_BELOW, MIRE_LOAD_NEAR, MIRE_LOAD_OVER };

struct load_reading {
    uint64_t at_ns, amount;
};

struct load {
    uint32_t count;
    uint32_t unused;
    struct load_reading readings[MIRE_LOAD_READINGS]; /* oldest first; the last is the latest */
};

struct load_limit {
    uint64_t window_ns;
    uint64_t amount;   /* within a window; 0: no limit, always BELOW */
    uint64_t least_ns; /* OVER needs this much time since the window's first reading: a short burst is none */
};

/* Remove all readings. */
void mire__load_reset(struct load *load);

/*
 * Take a reading.
 *
 *   grown_out, within_ns_out  growth within the window, and its time
 *   now_ns, amount            never falling from call to call
 */
enum mire__load mire__load_read(uint64_t *grown_out, uint64_t *within_ns_out, struct load *load,
                                const struct load_limit *limit, uint64_t now_ns, uint64_t amount);

#endif
