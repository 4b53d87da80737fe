/*
 * alias.h - merges and splits: an issue, or some of its trees, is shown as another issue. Rows are added and undone
 * (docs/adr/0024-merges-and-splits-as-alias-rows.md).
 *
 *     issue_alias    I-4 -> I-1    who, when, why             the log; a row is undone, never deleted
 *     issue_shown    I-4 -> I-1    followed to the end        derived from it, for the joins of lists and pages
 *
 * Reports and counters keep the issue of their key. Every function runs inside the caller's transaction, which holds
 * the app's row from rows_alias_begin on, so the changes of one app happen one after the other.
 */
#ifndef MIRE_ROWS_ALIAS_H
#define MIRE_ROWS_ALIAS_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_ALIAS_MAX 50 /* issues merged, or trees split off, in one act */

enum { MIRE_ALIAS_NONE = 1 }; /* the named issue, tree or act does not exist, or has no such alias */

struct alias_act {
    int32_t app;
    const char *author, *reason; /* borrowed */
    int64_t act;                 /* number of the act, set by its first row; rows_alias_undo takes it */
};

/* A tree of an issue; the issue is that of its reports' key. */
struct alias_tree {
    int64_t issue;
    int32_t tree;
};

/* Lock the aliases of an app until the transaction ends. 0 or a fault. */
int rows_alias_begin(struct pg_tx *tx, int32_t app);

/* Show `issue` as `into`. Both must be shown as themselves, and both or neither be of memory. 0, MIRE_ALIAS_NONE, or a
 * fault. */
int rows_alias_merge(struct pg_tx *tx, struct alias_act *act, int64_t issue, int64_t into);

/*
 * Show these trees as a new issue of their own.
 *
 *   from        the issue that they are shown as; the new one copies its names and state
 *   opened_out  the number of the new one
 *
 * 0, MIRE_ALIAS_NONE if a tree is not kept or was split off already, or a fault.
 */
int rows_alias_split(int64_t *opened_out, struct pg_tx *tx, struct alias_act *act, int64_t from,
                     const struct alias_tree *trees, size_t count);

/* Undo all rows of an act (act->act). 0, MIRE_ALIAS_NONE if none of them is in force, or a fault. */
int rows_alias_undo(struct pg_tx *tx, const struct alias_act *act);

/* Undo the merges of these issues. 0, MIRE_ALIAS_NONE if none is merged, or a fault. */
int rows_alias_take_out(struct pg_tx *tx, const struct alias_act *act, const int64_t *issues, size_t count);

/* Derive issue_shown of the app again; needed after a change of issue.gone_to too. 0 or a fault. */
int rows_shown_refresh(struct pg_tx *tx, int32_t app);

#endif
