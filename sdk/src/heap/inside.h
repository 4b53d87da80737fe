/*
 * inside.h - what the files of heap/ share. Private to the tables.
 *
 * Every wait for a lock is bounded: mire__heap_lock. A thread that holds a lock is inside its slot, so no signal
 * handler on it can want the same lock.
 */
#ifndef MIRE_HEAP_INSIDE_H
#define MIRE_HEAP_INSIDE_H

#include "heap/tables.h"

static inline bool mire__heap_try(_Atomic uint32_t *lock)
{
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

/* The slow path of mire__heap_lock. */
bool mire__heap_lock_slow(_Atomic uint32_t *lock);

/*
 * Take a lock. Holders need some microseconds. If the holder lost its processor the caller yields its own, then sleeps,
 * 50 us at first and longer each time. Returns false, without the lock, after 1 s. No thread waits for itself: see
 * counters.h.
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
 * Claim the first `bytes` of a section: from then on they may be stored to.
 * Returns false if the budget, the section or the file's place does not allow it.
 */
bool mire__heap_claim_slow(struct heap *heap, enum heap_section_id section, uint64_t bytes);

static inline bool mire__heap_claim(struct heap *heap, enum heap_section_id section, uint64_t bytes)
{
    return bytes <= atomic_load_explicit(&heap->header->ready[section], memory_order_acquire) ||
           mire__heap_claim_slow(heap, section, bytes);
}

/* The reserve of the budget is touched: go over to sampling, or to a longer interval, at once. */
void mire__heap_press(struct heap *heap);

/* Count memory without a file against the budget. False: it is used up. */
bool mire__heap_claim_anonymous(struct heap *heap, uint64_t bytes);

/* Claim one page of the file that was given back. And: give claimed pages back. */
bool mire__heap_claim_page(struct heap *heap, void *page);
bool mire__heap_give_pages(struct heap *heap, void *first, uint32_t count);

/* Is so little of the budget claimed that giving back sparse pages is not worth the cost to the calls meanwhile? */
static inline bool mire__heap_is_roomy(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->claimed_bytes, memory_order_relaxed) < heap->budget_bytes / 4;
}

/* Is so much claimed that sparse pages given back soon may avoid the change to sampled mode? */
static inline bool mire__heap_is_tight(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->claimed_bytes, memory_order_relaxed) >= heap->budget_bytes / 2;
}

/* Is a segment of the block table claimed? Otherwise it must not be read. */
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

/*
 * thin.c: thin all tables to an interval. MIRE_FLAG_MOVING is set, and every thread that was inside before has left.
 * Returns the number of blocks that are left out from now on. Thread: reclaimer.
 */
uint32_t mire__heap_thin(struct heap *heap, uint32_t interval, uint64_t *random);

/* ---- blocks.c: the shadow ---- */

/* Where the page directory's table for an address is; NULL in it: no table. */
static inline _Atomic(shadow_ref *) *mire__shadow_table(const struct heap *heap, uint64_t address, uint32_t phase)
{
    return &heap->shadow_directory[phase * MIRE_DIRECTORY_TABLES + (address >> MIRE_DIRECTORY_SPAN_LOG)];
}

/* The reference of an address; NULL if there is no table. */
static inline shadow_ref *mire__shadow_ref(const struct heap *heap, uint64_t address, uint32_t phase)
{
    shadow_ref *table = atomic_load_explicit(mire__shadow_table(heap, address, phase), memory_order_acquire);

    return table ? &table[(address >> MIRE_SHADOW_PAGE_SPAN_LOG) % MIRE_DIRECTORY_TABLE_REFS] : NULL;
}

/* The size fields of two entries at a time; 0 if neither begins a block. */
static inline uint64_t mire__shadow_sizes(const _Atomic uint32_t *entries)
{
    typedef uint64_t __attribute__((may_alias)) pair;

    return __atomic_load_n((const pair *)(uintptr_t)entries, __ATOMIC_RELAXED) &
           (MIRE_SHADOW_SIZE_MASK | (uint64_t)MIRE_SHADOW_SIZE_MASK << 32);
}

/* Has a page MIRE_SHADOW_SPARSE blocks or fewer? */
bool mire__shadow_is_sparse(const _Atomic uint32_t *page);

#endif
