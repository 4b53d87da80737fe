/*
 * arrivals.h - delays of an app's events or sessions, by the day in which they happened.
 */
#ifndef MIRE_ROWS_ARRIVALS_H
#define MIRE_ROWS_ARRIVALS_H

#include "base/arena.h"
#include "model/completeness.h"

struct pg_tx;

/* The last MIRE_COMPLETENESS_DAYS days of the kind "event" or "session". 0 or a fault. */
int rows_arrivals_read(struct arrivals **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       const char *kind, int64_t now_us);

#endif
