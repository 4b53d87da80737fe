/*
 * nearby.h - which issues look like one another: an index of each app's trees in memory, brought up to date from the
 * database with each question.
 *
 *     issue_tree --- rows since the last question ---> cluster/similar.h, one index an app ---> the members most alike
 *
 * Every process that answers has its own (docs/adr/0028-similar-issues-in-memory.md): nothing is handed from worker
 * to server but rows. A row that is gone or has moved to another issue since is found out when its stack is read to be
 * shown; an index with many such rows is made anew. Merges need no change: what a tree is shown as is asked each time.
 *
 * Threads: any; one question at a time in each app.
 */
#ifndef MIRE_API_ISSUES_NEARBY_H
#define MIRE_API_ISSUES_NEARBY_H

#include "api/api.h"
#include "cluster/similar.h"
#include "model/frames.h"
#include "rows/issues.h"
#include "rows/parts.h"

#define MIRE_NEARBY_TREES_MAX 200000 /* of an app, the newest: about 0.8 KB each */
#define MIRE_NEARBY_APPS_MAX  16     /* what was asked longest ago goes first */
#define MIRE_NEARBY_MAX       20     /* suggestions */
#define MIRE_NEARBY_SUGGEST   0.6    /* from this score on a merge is suggested (tests/bench/bench_clusters.c) */

/* One end of a likeness. */
struct nearby_stack {
    int64_t issue; /* of the reports' key */
    int32_t tree, caller1;
    struct frame_line *frames;
    size_t count;
};

struct nearby_hit {
    struct issue_summary summary; /* the issue as it is shown; its devices are not counted */
    double score, best;
    uint32_t members; /* trees of it that were compared */
    struct nearby_stack ours, theirs;
    struct similar_evidence why;
};

struct nearby_question {
    struct nearby *nearby;
    struct pg_tx *tx;
    struct arena *arena;
    const struct view *view;
    const struct issue_summary *issue;
    const struct tree_part *trees; /* of it, most reports first: the first MIRE_SIMILAR_STACKS are asked about */
    size_t tree_count;
};

/*
 * Issues that look like this one, most alike first; those of memory look like none that is not. For age, an issue is
 * there from its first report to the last one of the view's span.
 *
 *   hits   room for `cap`, of which at most MIRE_NEARBY_MAX are used; what they point to lies in the arena
 *
 * 0 or a fault.
 */
int nearby_find(struct nearby_hit *hits, size_t cap, size_t *got_out, const struct nearby_question *question);

#endif
