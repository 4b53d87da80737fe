/*
 * reclaim.h - keep the tables within their budget, on a thread of the SDK.
 *
 * A thread that claims more than 25/32 of the budget switches to sampled mode at once: from exact to an interval of
 * 64 KiB, from an interval to twice as much. The reclaimer then thins the tables to the same interval: each block
 * stays with the chance that it would have had to be drawn, so weights stay unbiased, as if the interval had been in
 * force from the start. Tagged blocks and those of 8 intervals and more stay for certain. Empty pages are given back
 * to the system. When the whole budget is used up, new entries are dropped and counted.
 *
 * Sparse shadow pages are given back, and segments joined: at once after thinning; otherwise while a quarter of the
 * budget or more is claimed, if the page was sparse in the round before too. Nodes are never given back: they may
 * take half the budget, and stacks beyond that are cut.
 */
#ifndef MIRE_HEAP_RECLAIM_H
#define MIRE_HEAP_RECLAIM_H

#include "heap/tables.h"

struct heap_reclaimed {
    uint32_t pages_given_back;
    uint32_t blocks_thinned; /* that were left out */
    bool degraded;           /* the tables were thinned to a longer interval */
};

/*
 * One round. Call it about once a second, and soon after heap->pressed turns 1. It takes some milliseconds when there
 * is something to do; the program's threads go on meanwhile.
 *   random  any number; seeds the choice of blocks that stay
 * Thread: one at a time, none that allocates.  Signal handler: no.
 */
void mire__heap_reclaim(struct heap_reclaimed *out, struct heap *heap, uint64_t now_ns, uint64_t random);

#endif
