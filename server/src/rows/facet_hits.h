/*
 * facet_hits.h - hits of issues by facet, for the explanation of changes (model/explain.h).
 */
#ifndef MIRE_ROWS_FACET_HITS_H
#define MIRE_ROWS_FACET_HITS_H

#include "base/arena.h"
#include "model/explain.h"
#include "model/view.h"

struct pg_tx;

#define MIRE_FACET_HITS_WHOLE 256 /* parts of all installations */

struct facet_hits {
    int64_t issue; /* as it is shown; 0: all that were not asked for */
    enum explain_facet facet;
    const char *value;
    struct explain_hits all;  /* of issue 0 the same as `read` */
    struct explain_hits read; /* of the part of the installations of which all issues were read */
};

/*
 * Hits by the reports that are kept: of these issues on all installations; of all other issues on a part of the
 * installations. App, span, version and kind of the view apply. By issue, facet and value in the order of bytes. 0 or a
 * fault.
 *
 *   part  of the installations, of MIRE_FACET_HITS_WHOLE
 */
int rows_facet_hits_read(struct facet_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         const struct view *view, const int64_t *issues, size_t issue_count, int part);

/* The order of these rows. */
int facet_hits_order(const void *a, const void *b);

#endif
