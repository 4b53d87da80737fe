/*
 * nearby.h - which issues look like one another: an index of each app's trees in memory, brought up to date from the
 * database with each question.
 *
 *     issue_tree --- rows since the last question ---> cluster/similar.h, one index an app ---> the members most alike
 *
 * Every process that answers has its own (docs/adr/0028-suggestions-come-from-memory.md): nothing is handed from worker
 * to server but rows. A row that is gone or has moved to another issue since is found out when its stack is read to be
 * shown; an index with many such rows is made anew. Merges need no change: what a tree is shown as is asked each time.
 *
 * Threads: any; one question at a time in each app.
 */
#ifndef MIRE_API_NEARBY_H
#define MIRE_API_NEARBY_H

#include "api/api.h"
#include "cluster/similar.h"
#include "model/frames.h"
#include "pg/read.h"

#define MIRE_NEARBY_TREES_MAX 200000 /* of an app, the newest: about 0.8 KB each */
#define MIRE_NEARBY_APPS_MAX  16     /* what was asked longest ago goes first */
#define MIRE_NEARBY_MAX       20     /* suggestions */
#define MIRE_NEARBY_SUGGEST   0.5    /* from this score on a merge is suggested (tests/bench/bench_clusters.c) */

/* One end of a likeness. */
struct nearby_stack {
    int64_t issue; /* of the reports' key */
    int32_t tree, caller1;
    struct frame_line *frames;
    size_t count;
};

struct nearby_hit {
    int64_t issue; /* as it is shown */
    double score, best;
    uint32_t members; /* trees of it that were compared */
    struct nearby_stack ours, theirs;
    struct similar_evidence why;
};

/*
 * Issues that look like this one, most alike first.
 *
 *   trees  of the issue, most reports first: the first MIRE_SIMILAR_STACKS are asked about
 *   hits   room for `cap`; what they point to lies in the arena
 *
 * 0 or a fault.
 */
int nearby_find(struct nearby_hit *hits, size_t cap, size_t *got_out, struct nearby *nearby, struct pg_tx *tx,
                struct arena *arena, const struct view *view, int64_t issue, const struct tree_part *trees,
                size_t tree_count);

#endif
