/*
 * tree.h - the trees of issues (level 3), each with one representative stack. Every function runs inside the caller's
 * transaction.
 */
#ifndef MIRE_ROWS_TREE_H
#define MIRE_ROWS_TREE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_TREES_MAX 32 /* trees kept of an issue; reports of further trees are counted under 0 */

/* Find several trees of an app's issues. */
struct rows_tree_found {
    bool kept;
    int64_t first_seen_us; /* of a kept tree */
    int64_t trees;         /* of a tree that is not kept: the number of its issue's kept trees */
};
int rows_trees_find(struct rows_tree_found *out, struct pg_tx *tx, int32_t app_id, const int64_t *issues,
                    const int32_t *trees, size_t count);

/* Keep several trees, and count an event at first_seen_us in each. A tree may be kept already. 0 or a fault. */
int rows_trees_keep(struct pg_tx *tx, struct arena *arena, const struct tree_row *trees, size_t count);

/* Is the row's tree kept? An event at first_seen_us is counted in it. 1, 0, or a fault. */
int rows_tree_find(struct pg_tx *tx, const struct tree_row *row);

/* Keep a tree if there is room. 1: it is kept, 0: the issue has MIRE_TREES_MAX, below zero a fault. */
int rows_tree_keep(struct pg_tx *tx, const struct tree_row *row);

/* A tree as it is stored. Texts lie in the arena. */
struct rows_tree {
    int64_t tree_id, issue_id;
    int32_t tree, caller1;
    int64_t first_seen_us;
    const char *frames;
};

/*
 * The trees of an app that were added after `since`, the result of the last call; 0: all. By number; of more than `cap`
 * the newest.
 *
 *   since_out  for the next call. A tree may be returned twice and is never left out: the number is that of the oldest
 *              transaction still running.
 */
int rows_tree_news(struct rows_tree **out, size_t *count, int64_t *since_out, struct pg_tx *tx, struct arena *arena,
                   int32_t app_id, int64_t since, size_t cap);

/* Trees by their numbers, in any order, without those that are gone. */
int rows_tree_list(struct rows_tree **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app_id,
                   const int64_t *tree_ids, size_t id_count);

#endif
