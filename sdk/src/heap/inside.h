/*
 * inside.h - what the files of heap/ share. Private to the tables.
 *
 * Locks: whoever waits for one that is not given back soon gives up; see mire__heap_lock. A thread that holds one is
 * inside its slot, so no signal handler on it comes to want it.
 */
#ifndef MIRE_HEAP_INSIDE_H
#define MIRE_HEAP_INSIDE_H

#include "heap/blocks.h"

static inline bool mire__heap_try(_Atomic uint32_t *lock)
{
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

/* The rest of mire__heap_lock. */
bool mire__heap_lock_slow(_Atomic uint32_t *lock);

/*
 * Take a lock. What is done under one takes some microseconds. If its holder lost its processor the caller offers its
 * own, then sleeps, 50 us at first, each time longer; after 1 s it gives up: false, not taken. No thread waits for
 * itself: see counters.h.
 */
static inline bool mire__heap_lock(_Atomic uint32_t *lock)
{
    return mire__heap_try(lock) || mire__heap_lock_slow(lock);
}

static inline void mire__heap_unlock(_Atomic uint32_t *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

/*
 * See that the first `bytes` of a section may be stored to.
 * Returns false if the budget, the section or the file's place does not allow it.
 */
bool mire__heap_claim_slow(struct heap *heap, enum heap_section_id section, uint64_t bytes);

static inline bool mire__heap_claim(struct heap *heap, enum heap_section_id section, uint64_t bytes)
{
    return bytes <= atomic_load_explicit(&heap->header->ready[section], memory_order_acquire) ||
           mire__heap_claim_slow(heap, section, bytes);
}

/* Count memory without a file against the budget. False: it is used up. */
bool mire__heap_claim_anonymous(struct heap *heap, uint64_t bytes);

/* Claim one page of the file again that was given back; give some back, each of which was claimed. */
bool mire__heap_claim_page(struct heap *heap, void *page);
bool mire__heap_give_pages(struct heap *heap, void *first, uint32_t count);

/*
 * Is so much of the budget left that what would come back is not worth the work? What lies in pages of little use takes
 * no more than that; to give them back and make them anew costs every call that comes meanwhile.
 */
static inline bool mire__heap_is_roomy(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->claimed_bytes, memory_order_relaxed) < heap->budget_bytes / 4;
}

/* Or so little that what comes back soon may spare the tables the change to sampled mode? */
static inline bool mire__heap_is_tight(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->claimed_bytes, memory_order_relaxed) >= heap->budget_bytes / 2;
}

/* Is the page of a segment of blocks claimed? Else it must not be looked at. */
static inline bool mire__heap_is_there(const struct heap *heap, uint32_t segment)
{
    return atomic_load_explicit(&heap->there[segment], memory_order_acquire) != 0;
}
static inline void mire__heap_set_there(struct heap *heap, uint32_t segment, bool there)
{
    atomic_store_explicit(&heap->there[segment], there, memory_order_release);
}

/*
 * The index of the interval of so many bytes, added if it is new.
 * Returns MIRE_HEAP_INTERVALS_MAX if there is no room. Thread: who holds mode_lock.
 */
uint32_t mire__heap_interval_index(struct heap *heap, uint64_t interval_bytes);

/* ---- blocks.c: cells ---- */

/* The table of pages for the 256 MiB around an address, of one plane; NULL where nothing has been noted for miles. */
static inline _Atomic(heap_root *) *mire__cells_table(const struct heap *heap, uint64_t address, uint32_t plane)
{
    return &heap->roots[plane * MIRE_HEAP_ROOTS + (address >> MIRE_HEAP_ROOT_LOG)];
}

/* The entry of the page of cells for an address there. */
static inline heap_root *mire__cells_root_in(const struct heap *heap, uint64_t address, uint32_t plane)
{
    heap_root *table = atomic_load_explicit(mire__cells_table(heap, address, plane), memory_order_acquire);

    return table ? &table[(address >> MIRE_CELLS_SPAN_LOG) % MIRE_HEAP_ROOT_SIZE] : NULL;
}

/* Two cells at a time: their sizes. Of two that begin no block it is 0. */
static inline uint64_t mire__cells_sizes(const _Atomic uint32_t *cells)
{
    typedef uint64_t __attribute__((may_alias)) pair;

    return __atomic_load_n((const pair *)(uintptr_t)cells, __ATOMIC_RELAXED) &
           (MIRE_CELL_SIZE_MASK | (uint64_t)MIRE_CELL_SIZE_MASK << 32);
}

/* Do no more than MIRE_CELLS_SPARSE blocks begin in a page? */
bool mire__cells_sparse(const _Atomic uint32_t *page);

/* ---- block_table.c ---- */

/*
 * Add an entry. One that has the same address is replaced and told.
 *   was      was->size is valid if *replaced
 * Returns false if there is no room or no lock; counted.
 */
bool mire__blocks_as_put(struct live_block *was, bool *replaced, struct heap *heap, uint64_t address,
                         const struct live_block *block);

/*
 * Move a block from its cell: add an entry and clear the cell, unless somebody cleared it first; at any instant
 * header->moving and the cell say where the block is. Thread: keeper. cell  what is in *at
 * Returns whether the block is an entry now; no room or no lock is counted, and it stays in its cell.
 */
bool mire__blocks_as_adopt(struct heap *heap, uint64_t address, const struct live_block *block, _Atomic uint32_t *at,
                           uint32_t cell);

/* Take an entry out. False if it is not there, or (counted) its lock was not to be had. */
bool mire__blocks_as_take(struct live_block *was, struct heap *heap, uint64_t address);

/* Change an entry's node and tag. False as above. */
bool mire__blocks_as_change(struct heap *heap, uint64_t address, uint32_t node, bool tagged);

/* What is there. */
bool mire__blocks_as_find(struct live_block *found, const struct heap *heap, uint64_t address);

/* The segment of a hash, and the first of the lines in which its entry may lie. */
static inline struct heap_segment *mire__blocks_segment(const struct heap *heap, uint64_t hash)
{
    return heap->blocks +
           atomic_load_explicit(&heap->directory[hash >> (64 - MIRE_SEGMENT_BITS_MAX)], memory_order_acquire);
}
static inline struct heap_entry *mire__segment_line(struct heap_segment *segment, uint64_t hash)
{
    return &segment->entries[mire__block_line(hash) * 4];
}

/* Let every place of the directory that a segment covers name it. */
void mire__blocks_point(struct heap *heap, uint32_t covers, uint32_t number);

/* Count an entry in the filter, or take it off. */
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
