/*
 * session.h - stores session records and what they add to the days. Every function runs inside the caller's transaction
 * and returns 0 or a fault.
 */
#ifndef MIRE_ROWS_SESSION_H
#define MIRE_ROWS_SESSION_H

#include "model/rows.h"
#include "pg/pg.h"

/* Store a record. *new_out: it was not there yet; only then may it be counted. */
int rows_session_store(bool *new_out, struct pg_tx *tx, const struct session_row *session);

/* Add it to session_day, and the ends it tells, one row a verdict in order, to session_end_day. */
int rows_session_add(struct pg_tx *tx, const struct session_row *session);
int rows_session_end_add(struct pg_tx *tx, const struct session_row *session, const char *const *verdicts,
                         const double *counts, size_t count);

#endif
