/*
 * blocks.h - live blocks by address: size, stack, tag, weight.
 *
 *     shadow       4 bytes for each 32 bytes of address space, where blocks are dense or come and go: addressed, and
 *                  never searched (shadow.h)
 *     block table  a hash table of 16-byte entries, for all others: large ones that lie far apart, addresses that are
 *                  no multiple of 8, and every sampled block (block_table.c)
 *
 * In exact mode every block is in one of the two, with weight 1. In sampled mode the drawn blocks are in the block
 * table, each with the interval that drew it, so its weight stays right when the interval changes. The free of a
 * block that was not drawn reads an empty shadow entry and one byte of a filter of 64 KiB.
 *
 * Two threads never work on one address at a time: an allocator hands an address to one of them. "Counted" means in the
 * caller's slot (counters.h).
 *
 * Thread: any, inside its slot (mire__slot_as_enter).
 */
#ifndef MIRE_HEAP_BLOCKS_H
#define MIRE_HEAP_BLOCKS_H

#include "heap/counters.h"
#include "heap/shadow.h"

/* The slow path of the inline calls below: tables to be made, the block table, blocks in the way. */
bool mire__block_as_set_slow(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node);
bool mire__block_as_clear_slow(struct live_block *was, struct heap *heap, struct heap_slot *slot, uint64_t address);
void mire__block_as_uncount_tagged(struct heap *heap, const struct live_block *block);

/*
 * Record a block; exact mode. Counted.
 *   address  below 2^48, tags stripped; not 0
 *   size     bytes asked for; at most MIRE_WHAT_SIZE_MAX are recorded
 *   node     below MIRE_HEAP_WORDS_MAX
 * Returns false if it is left out, which is counted.
 */
static inline bool mire__block_as_set(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size,
                                      uint32_t node)
{
    if (mire__heap_flags(heap, MIRE_FLAG_MOVING) || address > MIRE_HEAP_ADDRESS_MASK ||
        __builtin_expect(!mire__shadow_as_set(heap, address, size, node), 0))
        return mire__block_as_set_slow(heap, slot, address, size, node);
    mire__slot_as_count(heap, slot, size);
    return true;
}

/*
 * Record a block that was drawn, or is kept for certain; sampled mode.
 *   interval  index of the interval it was drawn by (mire__heap_as_interval); 0: kept for certain, and counted
 * Results as above.
 */
bool mire__block_as_sample(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node,
                           uint32_t interval);

/*
 * Forget a block. Counted, if its begin was.
 * Returns false if it is unknown: it was not drawn, or is older than the run.
 */
static inline bool mire__block_as_clear(struct live_block *was, struct heap *heap, struct heap_slot *slot,
                                        uint64_t address)
{
    if (__builtin_expect(!mire__shadow_as_clear(was, heap, address), 0))
        return mire__block_as_clear_slow(was, heap, slot, address);
    if (__builtin_expect(was->tagged, 0))
        mire__block_as_uncount_tagged(heap, was);
    else
        mire__slot_as_uncount(heap, slot, was->size);
    return true;
}

/* Take back a clear: the block lives on, for a realloc failed. Counted. Results as mire__block_as_set. */
bool mire__block_as_put_back(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *was);

/*
 * A live block is of an object class: it counts as live there from now on, and no longer in its size class.
 *   class  1..MIRE_HEAP_CLASSES_MAX-1 (classes.h)
 * Returns false if the block is not known, or there is no room.
 */
bool mire__block_as_tag(struct heap *heap, struct heap_slot *slot, uint64_t address, uint32_t class);

/* Look a block up. Returns false if it is unknown. */
bool mire__block_as_find(struct live_block *found, const struct heap *heap, uint64_t address);

#endif
