/*
 * look.h - a look at the process's memory, for a row of the trail.
 *
 * One look reads six small files, 30 us of CPU time. Looks happen only while the process uses CPU time, so an idle
 * process causes none. While the footprint grows fast, looks are closer together.
 */
#ifndef MIRE_EXIT_LOOK_H
#define MIRE_EXIT_LOOK_H

#include "exit/evidence.h"

#define MIRE_LOOK_LEAST_NS (200 * MIRE_NS_PER_MS) /* between two looks */

struct look {
    uint64_t looked_ns; /* CLOCK_MONOTONIC; 0: not yet */
    uint32_t count;
    uint32_t fd_count;
    uint64_t footprint_bytes;
};

/*
 * Look, unless the last look is less than MIRE_LOOK_LEAST_NS ago.
 *
 *   look      zeroed before the first look
 *   evidence  receives the row
 *
 * Returns the time of the next look: CLOCK_MONOTONIC; UINT64_MAX: on request only.
 * Thread: one at a time. Signal handler: no.
 */
uint64_t mire__look(struct look *look, struct evidence *evidence);

/* The facts of the start: cgroup and counts. */
void mire__look_start(struct evidence_start *out);

#endif
