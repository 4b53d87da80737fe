/*
 * tally.h - sums of live memory by category and stack, over millions of blocks in bounded memory. Private to report/.
 *
 *     block, block, mapping, ... --add--> (category, node): count, bytes --close--> pairs, most bytes first
 *
 * The table holds MIRE_TALLY_PAIRS_MAX pairs. When it is full the small ones go, so that what is large has room
 * whenever it comes; of those that went only the categories' own sums know (memory_draft.h).
 */
#ifndef MIRE_REPORT_TALLY_H
#define MIRE_REPORT_TALLY_H

#include "base/base.h"

/* Real programs have some ten thousand; the table of so many takes 6 MB. */
#define MIRE_TALLY_PAIRS_MAX (3u << 16)

/* Whole numbers if every block weighs 1, exact up to 2^53. */
struct tally_pair {
    uint32_t category;
    uint32_t node;
    double count;
    double bytes;
};

struct tally {
    struct tally_pair *pairs; /* open addressing by category and node until closed, then `pair_count` in a row */
    uint32_t slot_mask;       /* slots less one */
    uint32_t pair_count;
    uint32_t last; /* slot added to last: neighbours in memory often have one stack */
    bool full;     /* some small pairs are missing, or incomplete */
};

/* Returns MIRE_OK, MIRE_E_MEMORY. */
enum mire_err mire__tally_init(struct tally *tally);
void mire__tally_fini(struct tally *tally);

/* What there is no memory for is left out, and `full` says so. */
void mire__tally_add(struct tally *tally, uint32_t category, uint32_t node, double count, double bytes);

/* No more is added: pairs stand in a row, most bytes first; equal ones by category and node. */
void mire__tally_close(struct tally *tally);

#endif
