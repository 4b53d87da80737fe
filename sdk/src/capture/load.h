/*
 * load.h - an amount that only grows (CPU time, bytes), watched over a sliding window.
 *
 *     below --half the limit within a window--> near --the limit within a window, and for long enough--> over
 *
 * Near is when stacks begin to be taken, so that they are there if it becomes over. What is counted is the growth
 * between two readings that lie within one window, so a limit is never said to be exceeded that was not; a window that
 * begins between two readings is found out one reading later.
 *
 * Pure: time and amounts come in as arguments. Thread: check thread. Memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_LOAD_H
#define MIRE_CAPTURE_LOAD_H

#include "base/base.h"

#define MIRE_LOAD_READINGS 36 /* kept of one window: two for each 16th of it, and some to spare */

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
    uint64_t least_ns; /* from the window's first reading on it is NEAR at most: a short burst is none */
};

/* Forget all readings: the window begins anew. */
void mire__load_reset(struct load *load);

/*
 * Take a reading.
 *
 *   grown_out, within_ns_out  what the amount grew by, and in what time, within the window
 *   now_ns, amount            never falling from call to call
 */
enum mire__load mire__load_read(uint64_t *grown_out, uint64_t *within_ns_out, struct load *load,
                                const struct load_limit *limit, uint64_t now_ns, uint64_t amount);

#endif
