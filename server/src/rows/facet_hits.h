/*
 * facet_hits.h - hits of issues by facet, for the explanation of changes (model/explain.h).
 */
#ifndef MIRE_ROWS_FACET_HITS_H
#define MIRE_ROWS_FACET_HITS_H

#include "base/arena.h"
#include "model/explain.h"
#include "model/view.h"

struct pg_tx;

#define MIRE_FACET_HITS_EVENTS 10000 /* read at most: of an issue, and of the app */

struct facet_hits {
    int64_t issue; /* as it is shown; 0: all that were not asked for */
    enum explain_facet facet;
    const char *value;
    struct explain_hits hits;
    int64_t reports; /* behind them */
};

/*
 * Hits of the newest MIRE_FACET_HITS_EVENTS events of one issue, or of the whole app. App, span, version and kind of the
 * view apply. By issue, facet and value in the order of bytes. 0 or a fault.
 *
 *   of      the issue; 0: the app, in which the issues that are not listed are added up as issue 0
 *   issues  listed issues of the app
 */
int rows_facet_hits_read(struct facet_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         const struct view *view, int64_t of, const int64_t *issues, size_t issue_count);

/* The order of these rows. */
int facet_hits_order(const void *a, const void *b);

#endif
