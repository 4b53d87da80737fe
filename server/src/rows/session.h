/*
 * session.h - stores session records and adds them to the days. Every function runs inside the caller's transaction and
 * returns 0 or a fault. All records of a call are of one app.
 */
#ifndef MIRE_ROWS_SESSION_H
#define MIRE_ROWS_SESSION_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/* Store records that have no row yet (rows_stored in derive.h). */
int rows_sessions_store(struct pg_tx *tx, const struct session_row *sessions, size_t count);

/* Add records to session_day. `sign` -1 takes them away (counters_take.h). */
int rows_sessions_add(struct pg_tx *tx, struct arena *arena, const struct session_row *sessions, size_t count,
                      int sign);

/* Ends of runs in a record: a verdict, and their number. `sign` as above. */
struct rows_session_end {
    const struct session_row *session;
    const char *verdict;
    double count;
};
int rows_session_ends_add(struct pg_tx *tx, struct arena *arena, const struct rows_session_end *ends, size_t count,
                          int sign);

#endif
