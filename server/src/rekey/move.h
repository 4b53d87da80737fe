/*
 * move.h - reports that were derived anew, from where they were counted to where they belong. Inside rekey/ only.
 */
#ifndef MIRE_REKEY_MOVE_H
#define MIRE_REKEY_MOVE_H

#include "rows/rekey_due.h"
#include "pipeline/stages.h"

struct move {
    struct rekey_stored stored;
    bool left; /* it could not be derived, and stays as it is */
    struct item item;
    struct issue_row issue;       /* of what it says now */
    struct aggregate_rows before; /* what it added when it was counted */
    struct aggregate_rows after;  /* what it adds now */
    struct missing_debug_row *missing;
    const struct memory *had; /* of memory: what was counted of it; NULL: nothing can be taken away */
    int64_t to_issue;         /* 0: there is none yet, which happens in a preview only */
};

struct move_batch {
    struct arena *arena;
    struct move *moves; /* by rising key, each report once */
    size_t count;
};

/* What a derived report was and is, as rows. 0 or a fault. */
int move_prepare(struct move *move);

/* Store a batch, and count what became of each. 0 or a fault. */
int move_all(struct move_batch *batch, struct pg_tx *tx);

/* Has its report been derived again; and is it one that is stored, not a preview? */
static inline bool move_is_derived(const struct move *move)
{
    return !move->stored.gone && !move->left;
}

static inline bool move_is_stored(const struct move *move)
{
    return move_is_derived(move) && !move->stored.preview;
}

/* As strcmp, of numbers. */
static inline int move_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

#endif
