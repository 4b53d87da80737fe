/*
 * reclaim.h - keeping the tables within their budget, on a thread of the SDK's own.
 *
 * At 25/32 of the budget the thread that claims beyond goes over to sampled mode at once: from exact to 64 KiB, from an
 * interval to twice as much. The keeper then thins what is noted to the same interval: of each block the chance to stay
 * is what it would have had to be drawn by it, so weights stay unbiased, as if the interval had been in force from the
 * start. Tagged blocks and those of 8 intervals and more stay for certain. Pages that empty are given back to the
 * system. Where the whole budget is used up, what does not fit is dropped and counted.
 *
 * Pages of cells in which little lives are given back, and segments joined: after that at once; in any mode while a
 * quarter of the budget or more is claimed, if little lived there in the round before too. Nodes are never given back:
 * they may take half the budget, stacks beyond are cut.
 */
#ifndef MIRE_HEAP_RECLAIM_H
#define MIRE_HEAP_RECLAIM_H

#include "heap/heap.h"

struct heap_kept {
    uint32_t pages_given_back;
    uint32_t blocks_thinned; /* left out from now on */
    bool degraded;           /* an interval was put through */
};

/*
 * Look after the tables. Call about once a second, and soon after heap->pressed turns 1. Takes some milliseconds when
 * there is something to do; application threads go on meanwhile. random  any number; seeds the choice of what stays
 * Thread: one at a time, none that allocates.  Signal handler: no.
 */
void mire__heap_keep(struct heap_kept *kept, struct heap *heap, uint64_t now_ns, uint64_t random);

#endif
