/*
 * issue.h - facts and distributions of one issue, by what its events say (rollup_read.h).
 */
#ifndef MIRE_ROWS_ISSUE_H
#define MIRE_ROWS_ISSUE_H

#include "base/arena.h"
#include "model/view.h"
#include "rows/rollup_read.h"

#include <stdbool.h>

struct pg_tx;

struct issue_facts {
    int64_t reports, killed, p50_ms, p95_ms, frames, unresolved;
    int64_t launch, foreground, background; /* reports; reports that name neither are in none */
    int64_t many_threads;                   /* reports of a process with more than 64 */
    int64_t suppressed;                     /* suppressed events in these reports */
    int64_t oldest_us, newest_us;           /* 0: none */
};

struct bin {
    int64_t from_ms, to_ms, reports;
};

struct value_row {
    const char *name, *key;                   /* name: of a facet, as in the API */
    int64_t here, here_total, all, all_total; /* all: of the app; 0 of holder, which is of the issue alone */
};

/* Figures of the issue. Percentiles are off by at most one part in 32. */
void rows_issue_facts(struct issue_facts *out, const struct event_totals *totals);

/*
 * Reports by the length of their event. A length that is within one part in 32 of a bound may be in the bin beside its
 * own. 0, or MIRE_FAULT_MEMORY.
 */
int rows_durations(struct bin **out, size_t *count, struct arena *arena, const struct event_totals *totals);

/* The facets of an issue that a page shows, in this order. */
#define MIRE_ISSUE_FACETS 11
extern const struct issue_facet {
    enum cell_facet facet;
    const char *name;
} rows_issue_facets[MIRE_ISSUE_FACETS];

/*
 * Values by name, most reports of the issue first; at most MIRE_VALUES_MAX of each name.
 *
 *   of_app  the same view of the whole app
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int rows_values(struct value_row **out, size_t *count, struct arena *arena, const struct event_totals *totals,
                const struct event_totals *of_app);

#define MIRE_TAG_FACET "tag:" /* before the name of a tag, in the name of its facet */

/* The same of the tags that the app keeps, by name; shares are among the reports that have the tag. */
int rows_tag_values(struct value_row **out, size_t *count_out, struct arena *arena, const struct event_totals *totals,
                    const struct event_totals *of_app);

/*
 * The issue that an issue is shown as, and whether it has rows in issue_shown; statements about it then need view.many.
 * 0 or a fault.
 */
int rows_shown_read(int64_t *shown_out, bool *many_out, struct pg_tx *tx, int32_t app, int64_t issue);

#endif
