/*
 * rollup.h - the tables of rollups: deltas of batches, the cells they are added to, and days whose cells are made anew.
 *
 *     batch -> delta -----> merge, once a minute ----> cells by issue and tree, and by app and kind, of an hour and a day;
 *                                                     session records by app, of a day
 *     re-key, forget -> due day -> rebuild from event, session ->
 *
 * Exactly once: a delta commits with its events, and leaves with the commit that adds it. A rebuild reads events and
 * deltas in one snapshot, so an event is in the cells it makes, or in a delta that is still there, and never in both.
 */
#ifndef MIRE_ROWS_ROLLUP_H
#define MIRE_ROWS_ROLLUP_H

#include "model/rows.h"
#include "rollup/delta.h"

struct pg;
struct pg_tx;

#define MIRE_ROLLUP_HOUR_DAYS 8 /* days before today whose hours are kept; of older days whole ones are */

/* What an event adds to its cells, with the counters it added. Texts are borrowed. */
void rows_rollup_entry(struct delta_entry *out, const struct event_row *event, const struct hour_row *hour,
                       const char *version);

/* The kind of an entry, and of cells, of session records. */
#define MIRE_ROLLUP_SESSION "session"

/* Make the entry that a session record adds to its cells. Texts are borrowed. 0, or MIRE_FAULT_MEMORY. */
int rows_rollup_session_entry(struct delta_entry *out, struct arena *arena, const struct session_row *session,
                              const char *version);

/* Store the delta of a batch, whose events and sessions are of one app and stored by the same transaction. Nothing if
 * count is 0. 0 or a fault. */
int rows_rollup_delta_store(struct pg_tx *tx, struct arena *arena, int32_t app, int16_t slot,
                            const struct delta_entry *entries, size_t count);

/* A day of an issue, or of the whole app (issue 0), whose events changed. */
struct rollup_day {
    int32_t app_id;
    int64_t issue_id;
    int32_t day; /* days since 1970-01-01 */
};

/* Have the cells of these days made anew, once this transaction has committed. Days may repeat. 0 or a fault. */
int rows_rollups_due(struct pg_tx *tx, struct arena *arena, const struct rollup_day *days, size_t count);

/*
 * Add waiting deltas to their cells, and make due days anew, in one transaction of its own.
 *
 *   more_out  there is more to do
 *   now_us    wall clock
 *
 * 0, also if another server is at it; or a fault, then nothing has changed.
 */
int rows_rollups_merge(bool *more_out, struct pg *pg, int64_t now_us);

/* What waits to be added to cells and standing sums. Pages add it themselves, which takes longer the more there is. */
struct rollups_waiting {
    int64_t deltas;   /* batches */
    int64_t oldest_s; /* age of the oldest, seconds; 0 if none */
};

/* 0 or a fault. */
int rows_rollups_waiting(struct rollups_waiting *out, struct pg_tx *tx);

#endif
