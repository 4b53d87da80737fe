/*
 * counters.h - adds reports to the counters. Every function runs inside the caller's transaction and returns 0 or a
 * fault. Rows with one key are added up first, and rows are locked by rising key until commit.
 *
 * The slot of a counter is that of its key, not of the report, so a batch of reports touches few rows (rows_slot,
 * model/rows.h).
 */
#ifndef MIRE_ROWS_COUNTERS_H
#define MIRE_ROWS_COUNTERS_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/* Add reports of one app to version_hour, issue_hour, turn_hour and arrival_day, in this order. */
int rows_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);

/* The first two tables alone; hour_row.reports below 0 takes reports away. */
int rows_version_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);
int rows_issue_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count);

/* Delays of one app's records of the kind "event" or "session". Records without a known delay are left out. */
struct rows_arrival {
    int32_t day; /* in which it happened */
    int delay;   /* bucket; -1: not known */
    double events;
};
int rows_arrivals_add(struct pg_tx *tx, struct arena *arena, int32_t app_id, const char *kind,
                      const struct rows_arrival *arrivals, size_t count);

/* Add the losses that reports of one app name to loss_day. */
int rows_losses_add(struct pg_tx *tx, struct arena *arena, const struct loss_row *losses, size_t count);

#endif
