/*
 * enough.h - how many reports of an issue, a version and a day there are, and reports that are cut down to what they
 * count for. Every function runs inside the worker's transaction and returns 0 or a fault.
 */
#ifndef MIRE_ROWS_ENOUGH_H
#define MIRE_ROWS_ENOUGH_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/* Reports of an issue, version and day that an app keeps whole; 0: all. `server`: of apps that set no number. */
int rows_enough_limit_read(int64_t *limit_out, struct pg_tx *tx, int32_t app_id, int64_t server);

/* Fill in the reports that were counted so far. */
struct rows_enough {
    int64_t issue_id, version_id;
    int32_t day; /* UTC, in which the events happened */
    int64_t reports;
};
int rows_enough_read(struct rows_enough *of, size_t count, struct pg_tx *tx, struct arena *arena, int32_t app_id);

/* Replace the bodies of stored reports; the new ones are of the format mire, compressed by zstd. */
struct rows_cut {
    struct report_key key;
    struct pg_bytes body;
};
int rows_reports_cut(struct pg_tx *tx, struct arena *arena, const struct rows_cut *cuts, size_t count);

#endif
