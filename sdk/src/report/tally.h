/*
 * tally.h - sums of live memory by category and stack, over millions of blocks in bounded memory. Private to report/.
 *
 *     block, block, mapping, ... --add--> (category, node): count, bytes --close--> pairs, most bytes first
 *
 * The table holds MIRE_TALLY_PAIRS_MAX pairs. When it is full the small ones go, so that what is large has room
 * whenever it comes; of those that went only the categories' own sums know (memory_draft.h).
 *
 * Where blocks are drawn by chance, behind each pair stands how far it may be off; the table holds half as many then.
 */
#ifndef MIRE_REPORT_TALLY_H
#define MIRE_REPORT_TALLY_H

#include "base/base.h"
#include "heapread/read.h"

/* Real programs have some ten thousand; the table of so many takes 6 MB, that of drawn blocks 8. */
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
    uint32_t pair_bytes; /* of one pair and what is behind it */
    uint32_t slot_mask;  /* slots less one */
    uint32_t pair_count;
    uint32_t last; /* slot added to last: neighbours in memory often have one stack */
    bool full;     /* some small pairs are missing, or incomplete */
};

/*
 *   drawn  blocks may be drawn by chance: keep how far each pair may be off
 * Returns MIRE_OK, MIRE_E_MEMORY.
 */
enum mire_err mire__tally_init(struct tally *tally, bool drawn);
void mire__tally_fini(struct tally *tally);

/*
 * A block.
 *   chance  with which it was drawn; below 1 only if the tally was told so
 * What there is no memory for is left out, and `full` says so.
 */
void mire__tally_add(struct tally *tally, uint32_t category, uint32_t node, uint64_t size_bytes, double chance);

/* A pair by its slot, or once closed by its place; and how far it may be off, NULL where nothing is drawn. */
static inline struct tally_pair *mire__tally_at(const struct tally *tally, uint32_t i)
{
    return (struct tally_pair *)(void *)(tally->pairs + (size_t)i * tally->pair_bytes);
}
static inline struct draw_spread *mire__tally_spread(const struct tally *tally, uint32_t i)
{
    return tally->pair_bytes > sizeof(struct tally_pair) ? (struct draw_spread *)(void *)(mire__tally_at(tally, i) + 1)
                                                         : NULL;
}

/* No more is added: pairs stand in a row, most bytes first; equal ones by category and node. */
void mire__tally_close(struct tally *tally);

#endif
