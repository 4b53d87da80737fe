/*
 * rekey_counted.h - reports that are counted only, and so not derived again, follow those of their issue that are kept.
 */
#ifndef MIRE_ROWS_REKEY_COUNTED_H
#define MIRE_ROWS_REKEY_COUNTED_H

#include "base/arena.h"
#include "pg/pg.h"

/*
 * Move all events of an issue to another one, of which they take kind and reason, with their share of version_hour.
 * Rollups of their days are made anew. The caller moves the issue's own counters. 0 or a fault.
 */
int rows_rekey_follow(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

#endif
