/*
 * counters_settle.h - after reports left counters: those without reports are deleted, and the longest, newest and largest
 * of the others are searched among the events that are left. Every function runs inside the caller's transaction, which
 * has added the negative amounts and moved or deleted the events before. 0 or a fault.
 */
#ifndef MIRE_ROWS_COUNTERS_SETTLE_H
#define MIRE_ROWS_COUNTERS_SETTLE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/*
 *   hours   the reports that left: their longest, newest and largest as they were counted. Of any apps and in any order; a
 *           counter may have several
 */
int rows_version_hours_settle(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);
int rows_issue_hours_settle(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);

#endif
