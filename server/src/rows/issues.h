/*
 * issues.h - the list of issues: groups of them, and the issues of a group.
 */
#ifndef MIRE_ROWS_ISSUES_H
#define MIRE_ROWS_ISSUES_H

#include "base/arena.h"
#include "model/view.h"
#include "rows/devices.h"
#include "rows/rows.h"

#include <stdbool.h>

struct faceted;
struct pg_tx;

struct issue_summary {
    int64_t issue;
    const char *caller1, *caller1_image, *caller1_location, *caller2, *caller2_image, *category, *reason, *state;
    const char *state_version; /* version with the fix, of the regression, or until which the issue is ignored; "" */
    const char *assignee;      /* "": nobody */
    const char *subject;       /* the category of memory to blame; "" unless it is a memory issue */
    struct totals totals;      /* devices: not counted */
    int64_t most_bytes;        /* of the subject in one report */
    double above_bytes;        /* of the subject above healthy processes, mean of its events; of other issues 0 */
    double trend[MIRE_TREND_PARTS];
    int64_t first_us, last_us;
    int64_t first_hour_us;                    /* of its oldest counter in the span; 0: none */
    int64_t members;                          /* issues that are shown as this one, itself included */
    int64_t split_from;                       /* 0: a report opened it */
    const char *first_version, *last_version; /* by the natural order: of its first report and of all in the span */
};

/* The summaries of issues of the view's app, in the given order. Uses span and version. */
int rows_summaries_read(struct issue_summary **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                        const struct view *view, const int64_t *issues, size_t issue_count);

/* Put figures of the facets that a view wants in place of the summaries' own. First and last seen, versions and the most
 * bytes stay those of the issue. */
void rows_summaries_of_facets(struct issue_summary *summaries, size_t count, const struct faceted *faceted);

/* The first issues of a view, at most MIRE_TOP_MAX of each kind. */
struct top {
    int64_t waited[MIRE_TOP_MAX]; /* most time waited; no memory issues */
    int64_t memory[MIRE_TOP_MAX]; /* most events; memory issues only */
    size_t waited_count, memory_count;
};

/* One statement for both, which adds up the counters once. 0 or a fault. */
int rows_top(struct top *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* Events of these issues together, in each part of the span. Span and version apply. */
int rows_trend_read(double trend[MIRE_TREND_PARTS], struct pg_tx *tx, struct arena *arena, const struct view *view,
                    const int64_t *issues, size_t count);

struct group {
    const char *key, *title, *image, *scene; /* scene: "" unless grouped by place */
    struct totals totals;                    /* devices: not counted */
    int64_t most_bytes;
    double above_bytes; /* as of an issue */
    int64_t last_us;
    const char *rank; /* the sort key as text, for a cursor */
    int64_t *issues;  /* all of the group's, in order */
    size_t issue_count;
};

struct group_page {
    int64_t groups_total, issues_total;
    int64_t open, regressed, resolved, ignored; /* issues by state, in any view */
    struct totals totals;                       /* devices: not counted */
    int64_t newest_us;                          /* 0: none */
    int64_t first_hour_us;                      /* of the oldest counter; 0: none */
    struct group *groups;
    size_t count;
};

enum rows_sort {
    ROWS_SORT_IMPACT,
    ROWS_SORT_EVENTS,
    ROWS_SORT_DEVICES,
    ROWS_SORT_LONGEST,
    ROWS_SORT_LAST,
    ROWS_SORT_TITLE,
    ROWS_SORT_BYTES,
    ROWS_SORT_ABOVE,
    ROWS_SORT_CHANGE, /* then by impact; memory issues by bytes above healthy */
    ROWS_SORT_REPORTS
};

struct group_order {
    enum rows_group by;
    enum rows_sort sort;
    const struct devices *devices;         /* for ROWS_SORT_DEVICES; otherwise NULL */
    const int64_t *changed, *change_ranks; /* for ROWS_SORT_CHANGE: issues and their ranks, above 0 */
    size_t changed_count;
    bool falling;
    const struct faceted *faceted; /* figures of the facets that the view wants; NULL: it wants none */
    const char *after_rank;        /* NULL: from the beginning */
    const char *after_key;
    int limit;
};

/* A page of the groups that match the view, and the totals of all groups. */
int rows_groups_read(struct group_page *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     const struct group_order *order);

#endif
