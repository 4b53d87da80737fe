/*
 * blocks.h - live blocks by address: a block's size, its stack, its tag, its weight.
 *
 *     cells    4 bytes for each 32 bytes of address space in which enough small blocks live, or enough blocks come and
 *              go: addressed, never searched; as much again for those that begin in the same 32 bytes as another, where
 *              there are enough
 *     blocks   a hash table of 16-byte entries, for all others: large ones that lie apart; those at addresses that are
 *              no multiple of 8; all that are sampled
 *
 * In exact mode every block is in one of the two, with weight 1. In sampled mode only drawn blocks are, in the second,
 * each with the interval it was drawn by, so that its weight stays right when the interval changes. A free of a block
 * that was not drawn costs a look at an empty cell and at one byte of a filter of 64 KiB.
 *
 * Two threads never work on one address at a time: an allocator hands an address out to one of them. Calls that say so
 * count in the caller's slot (counters.h).
 *
 * Thread: any, inside its slot (mire__slot_as_enter).
 */
#ifndef MIRE_HEAP_BLOCKS_H
#define MIRE_HEAP_BLOCKS_H

#include "heap/counters.h"
#include "heap/shadow.h"

/* What the inline calls below leave to blocks.c: tables to be made, the other table, blocks in the way. */
bool mire__live_as_set_else(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node);
bool mire__live_as_clear_else(struct live_block *was, struct heap *heap, struct heap_slot *slot, uint64_t address);
void mire__live_as_uncount_tagged(struct heap *heap, const struct live_block *block);

/*
 * Note a block; exact mode. Counted.
 *   address  below 2^48, tags stripped; not 0
 *   size     bytes asked for; more than MIRE_WHAT_SIZE_MAX is taken for that
 *   node     below MIRE_HEAP_WORDS_MAX
 * Returns true; false if it is left out (and counted as such).
 */
static inline bool mire__live_as_set(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size,
                                     uint32_t node)
{
    if (mire__heap_how(heap, MIRE_HOW_MOVING) || address > MIRE_HEAP_ADDRESS_MASK ||
        __builtin_expect(!mire__cells_as_set(heap, address, size, node), 0))
        return mire__live_as_set_else(heap, slot, address, size, node);
    mire__slot_as_count(heap, slot, size);
    return true;
}

/*
 * Note a block that was drawn, or is kept for certain; sampled mode.
 *   interval  index of the interval it was drawn by (mire__heap_as_interval); 0: kept for certain, and counted
 * Results as above.
 */
bool mire__live_as_sample(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node,
                          uint32_t interval);

/*
 * A block ends: forget it. Counted, if its begin was.
 * Returns false if it is not known: not drawn, or allocated before the start.
 */
static inline bool mire__live_as_clear(struct live_block *was, struct heap *heap, struct heap_slot *slot,
                                       uint64_t address)
{
    if (__builtin_expect(!mire__cells_as_clear(was, heap, address), 0))
        return mire__live_as_clear_else(was, heap, slot, address);
    if (__builtin_expect(was->tagged, 0))
        mire__live_as_uncount_tagged(heap, was);
    else
        mire__slot_as_uncount(heap, slot, was->size);
    return true;
}

/* Take back a clear: the block lives on after all (a realloc that failed). Counted. Results as mire__live_as_set. */
bool mire__live_as_put(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *was);

/*
 * A live block is of an object class: it counts there from now on, and no longer in its size class's live blocks.
 *   class  1..MIRE_HEAP_CLASSES_MAX-1 (classes.h)
 * Returns false if the block is not known, or there is no room.
 */
bool mire__live_as_tag(struct heap *heap, struct heap_slot *slot, uint64_t address, uint32_t class);

/* The class of a tagged block's node, 0 if it is none; and the node of its stack without the tag. */
uint32_t mire__live_as_class(const struct heap *heap, uint32_t node);
uint32_t mire__live_as_untagged(const struct heap *heap, uint32_t node);

/* What is known of a block. False if it is not. */
bool mire__live_as_find(struct live_block *found, const struct heap *heap, uint64_t address);

#endif
