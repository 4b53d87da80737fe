/*
 * shadow.h - live blocks in shadow entries, which are addressed by the block's address (heapread/file.h). Nearly all
 * allocations take this path; the slow path is in blocks.c.
 *
 * Several blocks may begin within the 32 bytes of a shadow entry, and threads record them at the same time. The last
 * bits of a block's address choose its phase, and each phase has entries of its own: so no two blocks share an entry,
 * and one plain store records a block. Where no two begin within 32 bytes, as in glibc (MIRE_FLAG_ONE_PHASE), all are
 * in the first phase, which takes fewer pages.
 *
 * Thread: any, inside its slot.
 */
#ifndef MIRE_HEAP_SHADOW_H
#define MIRE_HEAP_SHADOW_H

#include "heap/tables.h"

/* Larger blocks do not make a page: their 16 to 24 bytes in the block table are less than their shadow would take. */
#define MIRE_SHADOW_SMALL 512u
#define MIRE_SHADOW_LAST  (MIRE_SHADOW_PAGE_ENTRIES - 1)

/*
 * When 32 KiB of address space get a shadow page, for each phase (docs/adr/0017-memory-tables.md). A page costs as
 * much as 150 blocks in the block table, and saves 60 ns for each block that comes and goes. Where there is a page,
 * blocks of all sizes use it.
 */
#define MIRE_SHADOW_DENSE  64u  /* small blocks live there */
#define MIRE_SHADOW_COMING 16u  /* blocks of any size have come, while three quarters of the budget are free */
#define MIRE_SHADOW_BUSY   256u /* the same, while half of it is free */
#define MIRE_SHADOW_SPARSE 32u  /* a page with so few blocks is given back */
#define MIRE_SHADOW_WIDE   128u /* bytes: such blocks in two phases in turn would take two pages instead of one */
#define MIRE_SHADOW_PARTED 128u /* so there must be more of them in one phase */

/* A recorded block. */
struct live_block {
    uint64_t size;
    uint32_t node;     /* its stack; of a tagged block, the tag's child of it */
    uint32_t interval; /* index of the interval it was drawn by, 0: kept for certain */
    bool tagged;
};

/* The value of an address's reference in the page directory (tables.h). The address may have a pointer tag. */
MIRE_INLINE uint64_t mire__shadow_ref_value(const struct heap *heap, uint64_t address, uint32_t phase)
{
    const uint32_t tag_bits = 64 - MIRE_HEAP_ADDRESS_BITS;
    const uint64_t at = address << tag_bits >> (tag_bits + MIRE_DIRECTORY_SPAN_LOG);
    shadow_ref *table =
        atomic_load_explicit(&heap->shadow_directory[phase * MIRE_DIRECTORY_TABLES + at], memory_order_acquire);

    if (!table)
        return 0;
    return atomic_load_explicit(&table[(address >> MIRE_SHADOW_PAGE_SPAN_LOG) % MIRE_DIRECTORY_TABLE_REFS],
                                memory_order_acquire);
}

/* The shadow entries of a page by its number. */
static inline _Atomic uint32_t *mire__shadow_page(const struct heap *heap, uint32_t number)
{
    return heap->shadow + (size_t)number * MIRE_SHADOW_PAGE_ENTRIES;
}

/* The value of a reference to a page. */
static inline uint64_t mire__ref_of_page(const _Atomic uint32_t *page)
{
    return (uintptr_t)page;
}

/* The page of a reference, also of one that is closing; NULL if there is none. */
static inline _Atomic uint32_t *mire__ref_page(uint64_t ref)
{
    const bool closing = (ref & MIRE_REF_CLOSING) == MIRE_REF_CLOSING;

    return closing || (int64_t)ref > 0 ? (_Atomic uint32_t *)(uintptr_t)(ref & ~MIRE_REF_CLOSING) : NULL;
}

/*
 * Unpack a shadow entry. `next` is the one behind it, which holds the size of a larger block.
 * Returns false if no block begins in it, or it is torn.
 */
static inline bool mire__shadow_unpack(struct live_block *block, uint32_t shadow, uint32_t next)
{
    uint32_t size = shadow & MIRE_SHADOW_SIZE_MASK;

    if (size == 0 || (size == MIRE_SHADOW_SIZE_NEXT && (next & MIRE_SHADOW_SIZE_MASK)))
        return false;
    block->size = size == MIRE_SHADOW_SIZE_NEXT ? next >> MIRE_SHADOW_OFFSET_SHIFT : size - 1;
    block->node = shadow >> MIRE_SHADOW_NODE_SHIFT;
    block->interval = 0;
    block->tagged = (shadow & MIRE_SHADOW_TAGGED) != 0;
    return true;
}

static inline uint32_t mire__shadow_get(const _Atomic uint32_t *shadow)
{
    return atomic_load_explicit(shadow, memory_order_relaxed);
}

/* The number of an address's entry within its page; and where in its 32 bytes the address lies, in eights. */
static inline uint32_t mire__shadow_index(uint64_t address)
{
    return (uint32_t)(address >> MIRE_SHADOW_SPAN_LOG) % MIRE_SHADOW_PAGE_ENTRIES;
}
static inline uint32_t mire__shadow_offset(uint64_t address)
{
    return (uint32_t)(address >> 3) & 3;
}

/* The eights, as the bits of an entry. */
MIRE_INLINE uint32_t mire__shadow_offset_bits(uint64_t address)
{
    return (uint32_t)address << (MIRE_SHADOW_OFFSET_SHIFT - 3) & 3u << MIRE_SHADOW_OFFSET_SHIFT;
}

/* The phase of a block at an address. one_phase: MIRE_FLAG_ONE_PHASE holds */
MIRE_INLINE uint32_t mire__shadow_phase(uint64_t address, bool one_phase)
{
    return one_phase ? 0 : mire__shadow_offset(address);
}
_Static_assert(MIRE_SHADOW_PHASES == 1u << (MIRE_SHADOW_SPAN_LOG - 3), "a phase for each eight bytes");

static inline uint32_t mire__shadow_next(const _Atomic uint32_t *page, uint32_t at)
{
    return at < MIRE_SHADOW_LAST ? mire__shadow_get(&page[at + 1]) : 0;
}

/* The shadow page of an address, NULL if there is none. */
MIRE_INLINE _Atomic uint32_t *mire__shadow_page_at(const struct heap *heap, uint64_t address, uint32_t phase)
{
    return mire__ref_page(mire__shadow_ref_value(heap, address, phase));
}

/* Does a block at exactly this address begin in the shadow entry? */
static inline bool mire__shadow_is(uint32_t shadow, uint64_t address)
{
    return (shadow & MIRE_SHADOW_SIZE_MASK) != 0 &&
           (shadow >> MIRE_SHADOW_OFFSET_SHIFT & 3) == mire__shadow_offset(address);
}

/* The shadow entry of an address. Returns false if there is none, or its page is being emptied. */
MIRE_INLINE bool mire__shadow_entry(_Atomic uint32_t **shadow, const struct heap *heap, uint64_t address,
                                    uint32_t phase)
{
    const uint64_t ref = mire__shadow_ref_value(heap, address, phase);

    *shadow = (_Atomic uint32_t *)(uintptr_t)(ref + (address >> (MIRE_SHADOW_SPAN_LOG - 2) & 4 * MIRE_SHADOW_LAST));
    return __builtin_expect((int64_t)ref > 0, 1);
}

/* Is it the last entry of its page? */
MIRE_INLINE bool mire__shadow_is_last(const _Atomic uint32_t *shadow)
{
    return ((uintptr_t)shadow & 4 * MIRE_SHADOW_LAST) == 4 * MIRE_SHADOW_LAST;
}

/*
 * Record an untagged block in its shadow entry (mire__shadow_entry). Returns false, and does nothing, if an entry is
 * in use.
 *   aligned  the address is known to be a multiple of 8
 */
MIRE_INLINE bool mire__shadow_as_set_entry(_Atomic uint32_t *at, uint64_t address, uint64_t size, uint32_t node,
                                           bool aligned)
{
    uint32_t shadow = node << MIRE_SHADOW_NODE_SHIFT | mire__shadow_offset_bits(address);

    if ((!aligned && (address & 7) != 0) || (mire__shadow_get(at) & MIRE_SHADOW_SIZE_MASK))
        return false;
    if (__builtin_expect(size <= MIRE_SHADOW_SHORT_MAX, 1)) {
        atomic_store_explicit(at, shadow | (uint32_t)(size + 1), memory_order_release);
        return true;
    }
    if (size > MIRE_SHADOW_SIZE_MAX || mire__shadow_is_last(at) || mire__shadow_get(at + 1) & MIRE_SHADOW_SIZE_MASK)
        return false;
    atomic_store_explicit(at + 1, (uint32_t)size << MIRE_SHADOW_OFFSET_SHIFT, memory_order_relaxed);
    atomic_store_explicit(at, shadow | MIRE_SHADOW_SIZE_NEXT, memory_order_release);
    return true;
}

/* The same by address, while the reclaimer moves nothing. */
MIRE_INLINE bool mire__shadow_as_set(struct heap *heap, uint64_t address, uint64_t size, uint32_t node)
{
    _Atomic uint32_t *at;

    return mire__shadow_entry(&at, heap, address,
                              mire__shadow_phase(address, mire__heap_flags(heap, MIRE_FLAG_ONE_PHASE))) &&
           mire__shadow_as_set_entry(at, address, size, node, false);
}

/*
 * Take an untagged block out of its shadow entry (mire__shadow_entry), while the reclaimer moves nothing.
 * Returns false, and does nothing, in every other case.
 */
MIRE_INLINE bool mire__shadow_as_take_entry(struct live_block *was, _Atomic uint32_t *at, uint64_t address)
{
    const uint32_t given = MIRE_SHADOW_TAGGED | 3u << MIRE_SHADOW_OFFSET_SHIFT;
    uint32_t shadow = mire__shadow_get(at), next;
    uint64_t size;

    /* Also false for an address that is no multiple of 8: its last bits are compared with bits that are 0. */
    if (__builtin_expect((shadow & given) != (uint32_t)(address % 32) << (MIRE_SHADOW_OFFSET_SHIFT - 3), 0))
        return false;
    size = (uint64_t)(shadow & MIRE_SHADOW_SIZE_MASK) - 1;
    if (__builtin_expect(size > MIRE_SHADOW_SHORT_MAX, 0)) {
        next = mire__shadow_is_last(at) ? 0 : mire__shadow_get(at + 1);
        if ((shadow & MIRE_SHADOW_SIZE_MASK) != MIRE_SHADOW_SIZE_NEXT || next & MIRE_SHADOW_SIZE_MASK)
            return false;
        size = next >> MIRE_SHADOW_OFFSET_SHIFT;
    }
    atomic_store_explicit(at, 0, memory_order_relaxed);
    *was = (struct live_block){.size = size, .node = shadow >> MIRE_SHADOW_NODE_SHIFT};
    return true;
}

/* The same by address. */
MIRE_INLINE bool mire__shadow_as_take(struct live_block *was, const struct heap *heap, uint64_t address, uint32_t phase)
{
    _Atomic uint32_t *at;

    return mire__shadow_entry(&at, heap, address, phase) && mire__shadow_as_take_entry(was, at, address);
}

/* Take a block out of its page. Returns false if it is not there, or the reclaimer has just taken it. */
static inline bool mire__shadow_as_clear_entry(struct live_block *was, struct heap *heap, _Atomic uint32_t *page,
                                               uint64_t address)
{
    /* Read before the shadow entry: what was moved out of that meanwhile is not there, once nothing is moved any more.
     */
    bool moving = (atomic_load_explicit(&heap->flags, memory_order_acquire) & MIRE_FLAG_MOVING) != 0;
    uint32_t at = mire__shadow_index(address), shadow;

    /* Acquire: a block whose entry the reclaimer has emptied is then found in the block table. */
    shadow = atomic_load_explicit(&page[at], memory_order_acquire);
    if (!mire__shadow_is(shadow, address) || !mire__shadow_unpack(was, shadow, mire__shadow_next(page, at)))
        return false;
    if (__builtin_expect(moving, 0))
        return atomic_compare_exchange_strong_explicit(&page[at], &shadow, 0, memory_order_acquire,
                                                       memory_order_acquire);
    atomic_store_explicit(&page[at], 0, memory_order_relaxed);
    return true;
}

/* The same by address, of a block whose phase has not changed since. */
static inline bool mire__shadow_as_clear(struct live_block *was, struct heap *heap, uint64_t address)
{
    const uint32_t phase = mire__shadow_phase(address, mire__heap_flags(heap, MIRE_FLAG_ONE_PHASE));
    _Atomic uint32_t *page;

    return (address & ~(MIRE_HEAP_ADDRESS_MASK & ~UINT64_C(7))) == 0 &&
           (page = mire__shadow_page_at(heap, address, phase)) && mire__shadow_as_clear_entry(was, heap, page, address);
}

/* ---- the filter of the block table ---- */

/*
 * A byte for each KiB of address space, in turn. Blocks that are freed one after the other lie close together, so their
 * bytes are in the nearest cache; with a hash of the address, each free would read another line of 64 KiB.
 */
static inline uint32_t mire__filter_at(uint64_t address)
{
    return (uint32_t)(address >> 10 ^ address >> 26) % MIRE_HEAP_FILTER;
}
_Static_assert(MIRE_HEAP_FILTER <= 1u << (MIRE_HEAP_ADDRESS_BITS - 26), "a pointer tag changes nothing");

/* May the block table hold a block at that address? The address may have a pointer tag. */
static inline bool mire__filter_has(const _Atomic uint8_t *filter, uint64_t address)
{
    return atomic_load_explicit(&filter[mire__filter_at(address)], memory_order_relaxed) != 0;
}
static inline bool mire__filter_may_hold(const struct heap *heap, uint64_t address)
{
    return mire__filter_has(heap->filter, address);
}

#endif
