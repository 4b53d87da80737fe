/*
 * issue.h - facts and distributions of one issue. Span and version of the view apply.
 */
#ifndef MIRE_ROWS_ISSUE_H
#define MIRE_ROWS_ISSUE_H

#include "base/arena.h"
#include "model/view.h"

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
    const char *name, *key;                   /* name: version, os_version, arch, model, process, holder */
    int64_t here, here_total, all, all_total; /* all: of the app; 0 of holder, which is of the issue alone */
};

int rows_issue_facts_read(struct issue_facts *out, struct pg_tx *tx, const struct view *view, int64_t issue);
int rows_durations_read(struct bin **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        int64_t issue);

/* By name, most reports of the issue first; at most MIRE_VALUES_MAX of each name. */
int rows_values_read(struct value_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                     const struct view *view, int64_t issue);

/*
 * The issue that an issue is shown as, and whether it has rows in issue_shown; statements about it then need view.many.
 * 0 or a fault.
 */
int rows_shown_read(int64_t *shown_out, bool *many_out, struct pg_tx *tx, int32_t app, int64_t issue);

#endif
