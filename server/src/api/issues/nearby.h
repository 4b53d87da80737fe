/*
 * nearby.h - finds similar issues: an index of each app's trees in memory, updated from the database on each query.
 *
 *     issue_tree --- rows since the last question ---> cluster/similar.h, one index an app ---> the members most alike
 *
 * Every process with an API has its own index (docs/adr/0028-similar-issues-in-memory.md): workers and servers share
 * rows only. A dropped row, or one that has moved to another issue, is noticed when its stack is read for display; an
 * index with many such rows is built again. Merges need no update: the issue that a tree is shown as is read each time.
 *
 * Threads: any; one query at a time in each app.
 */
#ifndef MIRE_API_ISSUES_NEARBY_H
#define MIRE_API_ISSUES_NEARBY_H

#include "api/api.h"
#include "cluster/similar.h"
#include "model/frames.h"
#include "rows/issues.h"
#include "rows/parts.h"

#define MIRE_NEARBY_TREES_MAX 200000 /* of an app, the newest: about 0.8 KB each */
#define MIRE_NEARBY_APPS_MAX  16     /* the least recently used one goes first */
#define MIRE_NEARBY_MAX       20     /* suggestions */
#define MIRE_NEARBY_SUGGEST   0.6    /* from this score on a merge is suggested (tests/bench/bench_clusters.c) */

/* One side of a comparison. */
struct nearby_stack {
    int64_t issue; /* of the reports' key */
    int32_t tree, caller1;
    struct frame_line *frames;
    size_t count;
};

struct nearby_hit {
    struct issue_summary summary; /* the issue as it is shown; without its number of devices */
    double score, best;
    uint32_t members; /* its compared trees */
    struct nearby_stack ours, theirs;
    struct similar_evidence why;
};

struct nearby_question {
    struct nearby *nearby;
    struct pg_tx *tx;
    struct arena *arena;
    const struct view *view;
    const struct issue_summary *issue;
    const struct tree_part *trees; /* its trees, most reports first: the first MIRE_SIMILAR_STACKS are compared */
    size_t tree_count;
};

/*
 * Issues similar to this one, most similar first; a memory issue is similar to memory issues only. For age, an issue
 * exists from its first report to the last one in the view's span.
 *
 *   hits   room for `cap`, of which at most MIRE_NEARBY_MAX are used; what they point to lies in the arena
 *
 * 0 or a fault.
 */
int nearby_find(struct nearby_hit *hits, size_t cap, size_t *got_out, const struct nearby_question *question);

#endif
