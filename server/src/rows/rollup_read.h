/*
 * rollup_read.h - what pages ask of rollups: cells of a view, with the deltas that are not merged yet.
 *
 * Spans are of whole hours. A span that begins or ends in a day whose hours are no longer kept (rollup.h) covers that
 * day whole.
 */
#ifndef MIRE_ROWS_ROLLUP_READ_H
#define MIRE_ROWS_ROLLUP_READ_H

#include "model/view.h"
#include "rollup/cell.h"

struct pg_tx;

#define MIRE_NEWEST_EVENTS 10000 /* read at most, where two facets are asked for together */

/* What an issue's events, or an app's, say in a view. */
struct event_totals {
    struct cell_sums sums;        /* of all events of the wanted versions */
    int64_t oldest_us, newest_us; /* of these events; 0: there are none */
    struct cell cell;             /* the same by facet */
    bool is_sampled; /* cell is of the newest MIRE_NEWEST_EVENTS events: there are more, and some versions are wanted */
};

/*
 * The events of an issue in a view; issue 0: of all issues of the app. Honours span and version.
 *
 *   out  in the arena
 *
 * 0 or a fault.
 */
int rows_event_totals_read(struct event_totals *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           int64_t issue);

#endif
