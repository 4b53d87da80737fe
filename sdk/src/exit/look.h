/*
 * look.h - the process looked at from time to time: a row of the trail.
 *
 * One look reads six small files: 30 us of CPU time. Who looks is woken by the process's use of CPU time, so an idle
 * process is left alone; while its footprint grows fast, looks follow each other closely.
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
 * Look, unless the last time is less than MIRE_LOOK_LEAST_NS ago.
 *
 *   look      zeroed before the first
 *   evidence  where the row goes
 *
 * Returns when to look again even if nobody asks: CLOCK_MONOTONIC, UINT64_MAX if not.
 * Thread: one at a time. Signal handler: no.
 */
uint64_t mire__look(struct look *look, struct evidence *evidence);

/* What is to be known at the start: cgroup and counts. */
void mire__look_start(struct evidence_start *out);

#endif
