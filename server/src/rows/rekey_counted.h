/*
 * rekey_counted.h - moves reports that are counted only. Such reports have no stacks to derive an issue from, and
 * follow the kept reports of their issue.
 */
#ifndef MIRE_ROWS_REKEY_COUNTED_H
#define MIRE_ROWS_REKEY_COUNTED_H

#include "base/arena.h"
#include "pg/pg.h"

/*
 * Move all events of an issue, with their share of version_hour, to another issue; the events take its kind and reason.
 * Rollups of the events' days are rebuilt. The caller moves the issue's own counters. 0 or a fault.
 */
int rows_rekey_follow(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

#endif
