/*
 * standing_read.h - counters of a view, from standing sums and the deltas that wait. Inside rows/ only.
 *
 * Statements take them as a table that looks like issue_hour or version_hour, with a row for many hours. App, span and
 * versions of the view apply.
 */
#ifndef MIRE_ROWS_STANDING_READ_H
#define MIRE_ROWS_STANDING_READ_H

#include "base/arena.h"
#include "model/view.h"
#include "pg/pg.h"

/* Column by column. Columns that the reader does not fill are null. */
struct counted {
    size_t count;
    int64_t *issues, *versions;
    int32_t *trees;
    int32_t *categories; /* enum event_category */
    int64_t *hours;      /* the first one */
    int32_t *parts;      /* of the span */
    int64_t *reports;
    double *events, *waited, *above;
    int64_t *longest, *last, *most;
    int32_t *low, *high; /* least and greatest rank of a version */
};

/* A table t (issue_id, version_id, tree, category, hour, part, reports, events, waited_ms, longest_ms, last_at, most_bytes,
 * above_bytes, low, high) of the parameters from `first` on, in the arena. NULL: no memory. A column that the statement does not use costs nothing. */
#define COUNTED_COLUMNS 15
const char *counted_sql(struct arena *arena, int first);

#define COUNTED_OPTIONAL(k, p, n) PG_LIST(k, p, (p) ? (n) : 0)
#define COUNTED_PARAMS(c)                                                                                         \
    COUNTED_OPTIONAL(MIRE_PG_INT8, (c)->issues, (c)->count),                                                      \
        COUNTED_OPTIONAL(MIRE_PG_INT8, (c)->versions, (c)->count),                                                \
        COUNTED_OPTIONAL(MIRE_PG_INT4, (c)->trees, (c)->count),                                                   \
        COUNTED_OPTIONAL(MIRE_PG_INT4, (c)->categories, (c)->count), PG_TIMES((c)->hours, (c)->count),            \
        COUNTED_OPTIONAL(MIRE_PG_INT4, (c)->parts, (c)->count), PG_INT8S((c)->reports, (c)->count),               \
        PG_REALS((c)->events, (c)->count), PG_REALS((c)->waited, (c)->count), PG_INT8S((c)->longest, (c)->count), \
        PG_TIMES((c)->last, (c)->count), PG_INT8S((c)->most, (c)->count), PG_REALS((c)->above, (c)->count),       \
        COUNTED_OPTIONAL(MIRE_PG_INT4, (c)->low, (c)->count), COUNTED_OPTIONAL(MIRE_PG_INT4, (c)->high, (c)->count)

/* All issues: a row an issue and tree. */
int rows_counted_issues(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* The versions: a row a version, kind and, unless bucket_s is 0, bucket of so many seconds. */
int rows_counted_versions(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                          int bucket_s);

/* The lengths of turns: a row a length, its bucket in `parts`. */
int rows_counted_turns(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* Some issues: a row an issue, tree, and more. */
struct counted_by {
    bool version;
    int bucket_s;   /* 0: none */
    int part_count; /* parts of the span of equal length, MIRE_TREND_PARTS; 0: none */
    const int64_t
        *version_ids; /* rising, with their ranks; NULL: no ranks. Versions that are not among them do not count */
    const int32_t *ranks;
    size_t rank_count;
};
int rows_counted_of_issues(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           const int64_t *issues, size_t count, const struct counted_by *by);

/* The same of an issue and those whose reports may be shown as it. */
int rows_counted_of_issue(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                          int64_t issue, const struct counted_by *by);

#endif
