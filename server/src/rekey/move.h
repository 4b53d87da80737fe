/*
 * move.h - moves reports that were derived again from their old issue to their new one. Inside rekey/ only.
 */
#ifndef MIRE_REKEY_MOVE_H
#define MIRE_REKEY_MOVE_H

#include "rows/rekey_due.h"
#include "pipeline/stages.h"

struct move {
    struct rekey_stored stored;
    bool left;    /* deriving it again failed; it stays unchanged */
    bool changed; /* its event is another than before */
    struct item item;
    struct issue_row issue;       /* by the new derivation */
    struct aggregate_rows before; /* its share of the counters so far */
    struct aggregate_rows after;  /* its share from now on */
    struct missing_debug_row *missing;
    const struct memory *had; /* memory: the document that was counted; NULL: nothing can be subtracted */
    int64_t to_issue;         /* 0: none yet, in a preview only */
};

struct move_batch {
    struct arena *arena;
    struct move *moves; /* by rising key, each report once */
    size_t count;
};

/* Compute the old and the new rows of a derived report. 0 or a fault. */
int move_prepare(struct move *move);

/* Store a batch, and count the outcome of each report. 0 or a fault. */
int move_all(struct move_batch *batch, struct pg_tx *tx);

/* Was the report derived again? Is the result to be stored, or only previewed? */
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
