/*
 * trail.h - the history of the footprint in a fixed number of rows: dense near the end, sparse before.
 *
 *     start |       |       |    |    |  |  | | ||||| now
 *
 * A full trail drops the least useful row: the one whose neighbours are closest together for their age. The newest
 * MIRE_TRAIL_KEEP rows stay. A row is written in place, its time last, so a kill loses at most one row.
 */
#ifndef MIRE_EXIT_TRAIL_H
#define MIRE_EXIT_TRAIL_H

#include "exit/evidence.h"

#define MIRE_TRAIL_KEEP 16u

/*
 * Add the newest row; its boot_ns is not 0, and not before that of any other row.
 * Thread: one at a time. Not in a signal handler.
 */
void mire__trail_add(struct evidence *evidence, const struct trail_row *row);

/* Copy the used rows, oldest first. Returns their number. Thread: any; a row that is being written is left out. */
uint32_t mire__trail_copy(struct trail_row out[MIRE_TRAIL_ROWS], const struct evidence *evidence);

#endif
