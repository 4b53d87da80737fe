/*
 * trail.h - the footprint's way in a fixed number of rows: close together near the end, further apart before.
 *
 *     start |       |       |    |    |  |  | | ||||| now
 *
 * A full trail gives up the row that is missed least: the one whose neighbours are closest together for their age. The
 * newest MIRE_TRAIL_KEEP rows stay. A row is written in place, its time last, so a kill costs one row at most.
 */
#ifndef MIRE_EXIT_TRAIL_H
#define MIRE_EXIT_TRAIL_H

#include "exit/evidence.h"

#define MIRE_TRAIL_KEEP 16u

/*
 * Add the newest row; its boot_ns is not 0 and not before any other's.
 * Thread: one at a time. Not in a signal handler.
 */
void mire__trail_add(struct evidence *evidence, const struct trail_row *row);

/* Copy the rows in use, oldest first. Returns how many. Thread: any; a row that is just being written is left out. */
uint32_t mire__trail_copy(struct trail_row out[MIRE_TRAIL_ROWS], const struct evidence *evidence);

#endif
