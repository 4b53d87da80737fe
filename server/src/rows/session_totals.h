/*
 * session_totals.h - the session records in the days of a span summed up, by every facet, from rollups.
 */
#ifndef MIRE_ROWS_SESSION_TOTALS_H
#define MIRE_ROWS_SESSION_TOTALS_H

#include "model/view.h"
#include "rollup/cell.h"

struct pg_tx;

/*
 * The session records of the UTC days that a span touches. App, span and version of the view apply.
 *
 *   out  in the arena, with user days; with wanted versions, `all` is of these and the only facet is the version
 *
 * Sums are as rows_sessions_read has them, but gone with the reports of their day. 0 or a fault.
 */
int rows_session_totals_read(struct cell *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* The facet that a page calls so, of those that session records have; or -1. */
int rows_session_facet(const char *name);

#endif
