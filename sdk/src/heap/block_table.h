/*
 * block_table.h - the table of blocks that have no shadow entry: add, find, change and remove. Private to the tables.
 *
 * Signal-safe. The wait for a lock is bounded as in inside.h.
 */
#ifndef MIRE_HEAP_BLOCK_TABLE_H
#define MIRE_HEAP_BLOCK_TABLE_H

#include "heap/shadow.h"

/*
 * Add an entry, which replaces an entry with the same address. The replaced entry is returned in *was.
 *   was      was->size is valid if *replaced
 * Returns false if there is no room or no lock; counted.
 */
bool mire__block_table_as_put(struct live_block *was, bool *replaced, struct heap *heap, uint64_t address,
                              const struct live_block *block);

/*
 * Move a block out of its shadow entry: add an entry here and clear the shadow entry, unless another thread has cleared
 * it first. At any instant header->moving and the shadow entry determine the place of the block.
 *   at, shadow  the shadow entry, and its value
 * Returns whether the block is here now. If not, for lack of room or of a lock, the shadow entry is unchanged; counted.
 * Thread: reclaimer.
 */
bool mire__block_table_as_adopt(struct heap *heap, uint64_t address, const struct live_block *block,
                                _Atomic uint32_t *at, uint32_t shadow);

/* Remove an entry. False if there is no such entry, or its lock could not be taken (counted). */
bool mire__block_table_as_take(struct live_block *was, struct heap *heap, uint64_t address);

/* Change an entry's node and tag. False as above. */
bool mire__block_table_as_change(struct heap *heap, uint64_t address, uint32_t node, bool tagged);

/* Look an entry up. */
bool mire__block_table_as_find(struct live_block *found, const struct heap *heap, uint64_t address);

/* The segment of a hash, and the first of the possible lines of its entry. */
static inline struct heap_segment *mire__block_table_segment(const struct heap *heap, uint64_t hash)
{
    return heap->blocks +
           atomic_load_explicit(&heap->block_directory[hash >> (64 - MIRE_SEGMENT_BITS_MAX)], memory_order_acquire);
}
static inline struct heap_entry *mire__segment_line(struct heap_segment *segment, uint64_t hash)
{
    return &segment->entries[mire__block_line(hash) * 4];
}

/* Store a segment's number in all places of the directory that it covers. */
void mire__block_table_point(struct heap *heap, uint32_t covers, uint32_t number);

/* Add an entry to the filter, or subtract it. */
void mire__filter_add(struct heap *heap, uint64_t address);
void mire__filter_take(struct heap *heap, uint64_t address);

static inline void mire__block_unpack(struct live_block *block, uint64_t where, uint64_t what)
{
    block->size = what & MIRE_WHAT_SIZE_MAX;
    block->node = (uint32_t)(what >> MIRE_WHAT_SIZE_BITS);
    block->interval = mire__where_interval(where);
    block->tagged = (where & MIRE_WHERE_TAGGED) != 0;
}

static inline uint64_t mire__where_make(uint64_t address, uint32_t interval, bool tagged)
{
    return address | (uint64_t)interval << MIRE_WHERE_INTERVAL_SHIFT | (tagged ? MIRE_WHERE_TAGGED : 0);
}

#endif
