/*
 * activity.h - the activity of an issue: changes by people and by the server, comments, merges and splits.
 */
#ifndef MIRE_ROWS_ACTIVITY_H
#define MIRE_ROWS_ACTIVITY_H

#include "base/arena.h"
#include "pg/pg.h"

/* One row of the activity of an issue. */
struct act_row {
    int64_t act, batch, at_us, undone_us;                       /* 0: not undone */
    const char *who, *kind, *before, *after, *body, *undone_by; /* before, after: JSON or "" */
};

/* The activity of an issue and of the issues shown as it, with merges and splits, newest first. 0 or a fault. */
int rows_activity_read(struct act_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       int64_t issue);

#endif
