/*
 * retention.h - the rows that upkeep deletes next, counted. Reads, and writes nothing.
 */
#ifndef MIRE_ROWS_RETENTION_H
#define MIRE_ROWS_RETENTION_H

#include "base/arena.h"
#include "pg/pg.h"

/* Reports of an app that are older than it keeps them, or older than it will keep them in some days. */
struct retention_app {
    const char *slug;
    int64_t keep_days; /* 0: for ever */
    int64_t reports, bytes, days;
    int32_t oldest; /* day, since 1970; of no meaning without reports */
};

/* Rows that belong to no report or file any more. */
struct retention_rest {
    int64_t inbox, dead_letters; /* rows without their report */
    int64_t contents_bytes;      /* of debug files that were replaced */
    int64_t uploads;             /* unfinished, without progress for a day */
    int64_t unused;              /* debug files that no report had frames of for unused_days */
};

/*
 * Count what is due. Reads every row of `report`, not its body.
 *
 *   keep_days   of apps that set none; 0: for ever
 *   ahead_days  count what is due in so many days; 0: now
 *   unused_days of debug files; 0: they stay
 *
 * Apps by slug, in the arena. 0 or a fault.
 */
int rows_retention_read(struct retention_app **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                        int32_t keep_days, int32_t ahead_days);
int rows_retention_rest(struct retention_rest *out, struct pg_tx *tx, int32_t unused_days, int32_t ahead_days);

#endif
