/*
 * tally.h - sums of live memory by category and stack, over millions of blocks in bounded memory. Private to report/.
 *
 *     block, block, mapping, ... --add--> (category, node): count, bytes --close--> pairs, most bytes first
 *
 * The table holds MIRE_TALLY_PAIRS_MAX pairs. A full table drops its small pairs, so that large ones always have room;
 * dropped pairs are still in the sums of their categories (memory_draft.h).
 *
 * In sampled mode each pair is followed by its possible error; the table then holds half as many.
 */
#ifndef MIRE_REPORT_TALLY_H
#define MIRE_REPORT_TALLY_H

#include "base/base.h"
#include "heapread/read.h"

/* Real programs have about ten thousand. The table takes 6 MB, with errors 8. */
#define MIRE_TALLY_PAIRS_MAX (3u << 16)

/* Whole numbers if every block weighs 1, exact up to 2^53. */
struct tally_pair {
    uint32_t category;
    uint32_t node;
    double count;
    double bytes;
};

struct tally {
    uint8_t *pairs;      /* open addressing by category and node until closed, then `pair_count` in a row */
    uint32_t pair_bytes; /* of one pair with its error */
    uint32_t slot_mask;  /* slots minus one */
    uint32_t pair_count;
    uint32_t last; /* slot added to last: neighbours in memory often have one stack */
    bool full;     /* some small pairs are missing, or incomplete */
};

/*
 *   drawn  sampled mode: keep the possible error of each pair
 * Returns MIRE_OK, MIRE_E_MEMORY.
 */
enum mire_err mire__tally_init(struct tally *tally, bool drawn);
void mire__tally_fini(struct tally *tally);

/*
 * Add a block.
 *   chance  probability of its sampling; below 1 only with `drawn`
 * Without memory, entries are left out and `full` is set.
 */
void mire__tally_add(struct tally *tally, uint32_t category, uint32_t node, uint64_t size_bytes, double chance);

/* A pair by its slot, or by its rank once the tally is closed; and its possible error, NULL in exact mode. */
static inline struct tally_pair *mire__tally_at(const struct tally *tally, uint32_t i)
{
    return (struct tally_pair *)(void *)(tally->pairs + (size_t)i * tally->pair_bytes);
}
static inline struct draw_spread *mire__tally_spread(const struct tally *tally, uint32_t i)
{
    return tally->pair_bytes > sizeof(struct tally_pair) ? (struct draw_spread *)(void *)(mire__tally_at(tally, i) + 1)
                                                         : NULL;
}

/* Close: sort the pairs, most bytes first, equal ones by category and node. */
void mire__tally_close(struct tally *tally);

#endif
