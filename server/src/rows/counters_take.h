/*
 * counters_take.h - subtracts reports from the counters: the reverse of counters.h and session.h. Every function runs
 * inside the caller's transaction and returns 0 or a fault. The reports' own rows are deleted before, so that the
 * longest and the newest are those of the remaining reports.
 *
 * Rows are locked in the order of counters.h. A sum without reports is deleted, with the rest that rounding has left.
 */
#ifndef MIRE_ROWS_COUNTERS_TAKE_H
#define MIRE_ROWS_COUNTERS_TAKE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"
#include "rows/session.h"

/* Subtract reports of one app, as they were added, from version_hour, issue_hour, turn_hour and arrival_day. */
int rows_hours_take(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);

/* Subtract session records of one app, with the ends of runs in them, from session_day, session_end_day and
 * arrival_day. */
int rows_sessions_take(struct pg_tx *tx, struct arena *arena, const struct session_row *sessions, size_t count);
int rows_session_ends_take(struct pg_tx *tx, struct arena *arena, const struct rows_session_end *ends, size_t count);

/* Subtract the losses in reports of one app from loss_day. */
int rows_losses_take(struct pg_tx *tx, const struct loss_row *losses, size_t count);

#endif
