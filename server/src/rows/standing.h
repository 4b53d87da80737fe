/*
 * standing.h - the tables of standing sums (rollup/standing.h): counters again, packed, so that a page reads few rows.
 *
 *     version_hour issue_hour turn_hour -- the same transaction --> delta -----> merge, once a minute ----> standing
 *                                             reports were taken --> due day --> made anew from the counters ->
 *
 * Exactly once: a delta commits with its counters, and leaves with the commit that adds it. A day is made anew from the
 * counters and deltas of one snapshot.
 */
#ifndef MIRE_ROWS_STANDING_H
#define MIRE_ROWS_STANDING_H

#include "base/arena.h"
#include "model/rows.h"

struct pg_tx;

enum { MIRE_OF_ISSUES = 1, MIRE_OF_VERSIONS = 2, MIRE_OF_TURNS = 4 };

/* Say that reports of one app were added to counters, or, with reports below 0, taken from them. `of` tells to which;
 * several with |. 0 or a fault. */
int rows_standing_change(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count,
                         unsigned of);

/* Add waiting deltas, and make due days anew, inside the merger's transaction, which has one snapshot. *more_out: there
 * is more to do. 0 or a fault. */
int rows_standing_merge(bool *more_out, struct pg_tx *tx);

#endif
