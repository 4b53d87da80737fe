/*
 * retention.h - the rows that upkeep deletes next, counted. Reads, and writes nothing.
 */
#ifndef MIRE_ROWS_RETENTION_H
#define MIRE_ROWS_RETENTION_H

#include "base/arena.h"
#include "pg/pg.h"

/* Reports of an app beyond the app's retention, now or in some days. */
struct retention_app {
    const char *slug;
    int64_t keep_days; /* 0: for ever */
    int64_t reports, bytes, days;
    int32_t oldest; /* day, since 1970; undefined without reports */
};

/* Rows whose report or file is gone. */
struct retention_rest {
    int64_t inbox, dead_letters; /* rows without their report */
    int64_t contents_bytes;      /* of debug files that were replaced */
    int64_t uploads;             /* unfinished, without progress for a day */
    int64_t unused;              /* debug files without a frame in any report for unused_days */
};

/*
 * Count the rows that are due. Reads every row of `report`, without bodies.
 *
 *   keep_days   retention of apps without a setting of their own; 0: for ever
 *   ahead_days  count the rows that are due in this number of days; 0: now
 *   unused_days retention of unused debug files; 0: for ever
 *
 * Apps by slug, in the arena. 0 or a fault.
 */
int rows_retention_read(struct retention_app **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                        int32_t keep_days, int32_t ahead_days);
int rows_retention_rest(struct retention_rest *out, struct pg_tx *tx, int32_t unused_days, int32_t ahead_days);

#endif
