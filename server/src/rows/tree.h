/*
 * tree.h - the trees of issues (level 3), each with one stack that stands for it. Every function runs inside the
 * caller's transaction.
 */
#ifndef MIRE_ROWS_TREE_H
#define MIRE_ROWS_TREE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_TREES_MAX 32 /* kept of an issue; reports of further ones are counted under 0 */

/* Trees of an app's issues, all at once. */
struct rows_tree_found {
    bool kept;
    int64_t first_seen_us; /* if it is kept */
    int64_t trees;         /* of its issue that are kept, if it is not */
};
int rows_trees_find(struct rows_tree_found *out, struct pg_tx *tx, int32_t app_id, const int64_t *issues,
                    const int32_t *trees, size_t count);

/* Keep trees, all at once. One that is kept already has an event of the row's first_seen_us from now on. 0 or a fault. */
int rows_trees_keep(struct pg_tx *tx, struct arena *arena, const struct tree_row *trees, size_t count);

/* Is the row's tree kept? 1, 0, or a fault. It has an event of the row's first_seen_us from now on. */
int rows_tree_find(struct pg_tx *tx, const struct tree_row *row);

/* Keep it if there is room. 1: it is kept, 0: the issue has enough, below zero a fault. */
int rows_tree_keep(struct pg_tx *tx, const struct tree_row *row);

/* A tree as it is read back. Texts lie in the arena. */
struct rows_tree {
    int64_t tree_id, issue_id;
    int32_t tree, caller1;
    int64_t first_seen_us;
    const char *frames;
};

/*
 * Trees of an app that came since `since`, a number that the last call gave; 0: all. In order of their number, at most
 * `cap`, the newest.
 *
 *   since_out  what to ask with next time. Trees may come again, never go missing: `since` is the oldest transaction
 *              that was still running.
 */
int rows_tree_news(struct rows_tree **out, size_t *count, int64_t *since_out, struct pg_tx *tx, struct arena *arena,
                   int32_t app_id, int64_t since, size_t cap);

/* Trees by their numbers, in any order; those that are gone are missing. */
int rows_tree_list(struct rows_tree **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app_id,
                   const int64_t *tree_ids, size_t id_count);

#endif
