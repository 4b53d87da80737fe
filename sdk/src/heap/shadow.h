/*
 * shadow.h - small live blocks, in cells addressed by their address (heapread/file.h). The way that nearly all
 * allocations go; what it cannot do is left to blocks.c.
 *
 * Several blocks may begin in one cell, and threads note them at the same time. So the last bits of a block's address
 * say which plane it is in: no two share a place, and a plain store notes it. Where no two begin in one cell, as of
 * glibc's (MIRE_HOW_APART), all are in the first plane: that needs fewer pages.
 *
 * Thread: any, inside its slot.
 */
#ifndef MIRE_HEAP_SHADOW_H
#define MIRE_HEAP_SHADOW_H

#include "heap/heap.h"

/* Larger blocks do not make a page: an entry in the hash table takes 16 to 24 bytes, a cell for each 32 bytes more. */
#define MIRE_LIVE_SMALL 512u
#define MIRE_CELL_LAST  (MIRE_CELLS_PAGE - 1)

/*
 * 32 KiB get a page of cells when so many small blocks live there, or the first where a page is beside them already:
 * heaps grow at their ends; with half of the budget used up it must not be one of few. With few it is given back. A
 * page costs as much as 150 blocks in the other table, and saves 60 ns for each block that comes and goes; so one is
 * made as well where many blocks have come and gone, while half of the budget is free, and where some have while three
 * quarters are. Where there is a page, blocks of all sizes are in cells. The same holds of each plane; but wide blocks
 * that begin in two planes in turn would take two pages where one has room for them all, so they must be more.
 */
#define MIRE_CELLS_DENSE  64u
#define MIRE_CELLS_COMING 16u
#define MIRE_CELLS_BUSY   256u
#define MIRE_CELLS_SPARSE 32u
#define MIRE_CELLS_WIDE   128u /* bytes */
#define MIRE_CELLS_PARTED 128u /* wide blocks that are dense in one of several planes */

/* A block as it was noted. */
struct live_block {
    uint64_t size;
    uint32_t node;     /* its stack; of a tagged block, the tag's child of it */
    uint32_t interval; /* index of the interval it was drawn by, 0: kept for certain */
    bool tagged;
};

/*
 * What the roots of a plane say of an address, which may bear a tag (heap.h); 0 where nothing has been noted for miles.
 */
MIRE_INLINE uint64_t mire__cells_root(const struct heap *heap, uint64_t address, uint32_t plane)
{
    const uint32_t tag_bits = 64 - MIRE_HEAP_ADDRESS_BITS;
    const uint64_t at = address << tag_bits >> (tag_bits + MIRE_HEAP_ROOT_LOG);
    heap_root *table = atomic_load_explicit(&heap->roots[plane * MIRE_HEAP_ROOTS + at], memory_order_acquire);

    if (!table)
        return 0;
    return atomic_load_explicit(&table[(address >> MIRE_CELLS_SPAN_LOG) % MIRE_HEAP_ROOT_SIZE], memory_order_acquire);
}

/* The cells of a page by its number. */
static inline _Atomic uint32_t *mire__cells_page(const struct heap *heap, uint32_t number)
{
    return heap->cells + (size_t)number * MIRE_CELLS_PAGE;
}

/* What the roots say of addresses that have that page. */
static inline uint64_t mire__root_of_page(const _Atomic uint32_t *page)
{
    return (uintptr_t)page;
}

/* The page that they tell of, be it closing; NULL: none. */
static inline _Atomic uint32_t *mire__root_page(uint64_t root)
{
    const bool closing = (root & MIRE_ROOT_CLOSING) == MIRE_ROOT_CLOSING;

    return closing || (int64_t)root > 0 ? (_Atomic uint32_t *)(uintptr_t)(root & ~MIRE_ROOT_CLOSING) : NULL;
}

/*
 * What a cell tells. `next` is the cell behind it, of meaning if the size is told there.
 * False: it begins no block, or is torn.
 */
static inline bool mire__cell_unpack(struct live_block *block, uint32_t cell, uint32_t next)
{
    uint32_t size = cell & MIRE_CELL_SIZE_MASK;

    if (size == 0 || (size == MIRE_CELL_SIZE_NEXT && (next & MIRE_CELL_SIZE_MASK)))
        return false;
    block->size = size == MIRE_CELL_SIZE_NEXT ? next >> MIRE_CELL_OFFSET_SHIFT : size - 1;
    block->node = cell >> MIRE_CELL_NODE_SHIFT;
    block->interval = 0;
    block->tagged = (cell & MIRE_CELL_TAGGED) != 0;
    return true;
}

static inline uint32_t mire__cell_get(const _Atomic uint32_t *cell)
{
    return atomic_load_explicit(cell, memory_order_relaxed);
}

/* The cell of an address within its page, and where in it the address lies, in eights. */
static inline uint32_t mire__cell_of(uint64_t address)
{
    return (uint32_t)(address >> MIRE_CELL_SPAN_LOG) % MIRE_CELLS_PAGE;
}
static inline uint32_t mire__cell_offset(uint64_t address)
{
    return (uint32_t)(address >> 3) & 3;
}

/* The same where it stands in a cell. */
MIRE_INLINE uint32_t mire__cell_offset_bits(uint64_t address)
{
    return (uint32_t)address << (MIRE_CELL_OFFSET_SHIFT - 3) & 3u << MIRE_CELL_OFFSET_SHIFT;
}

/* The plane for a block at an address. apart: MIRE_HOW_APART holds */
MIRE_INLINE uint32_t mire__cell_plane(uint64_t address, bool apart)
{
    return apart ? 0 : mire__cell_offset(address);
}
_Static_assert(MIRE_CELLS_PLANES == 1u << (MIRE_CELL_SPAN_LOG - 3), "a plane for each eight bytes of a cell");

static inline uint32_t mire__cell_next(const _Atomic uint32_t *page, uint32_t at)
{
    return at < MIRE_CELL_LAST ? mire__cell_get(&page[at + 1]) : 0;
}

/* The cells of a plane around an address; NULL where there are none. */
MIRE_INLINE _Atomic uint32_t *mire__cells_at(const struct heap *heap, uint64_t address, uint32_t plane)
{
    return mire__root_page(mire__cells_root(heap, address, plane));
}

/* Begins a block at this very address in the cell? */
static inline bool mire__cell_is(uint32_t cell, uint64_t address)
{
    return (cell & MIRE_CELL_SIZE_MASK) != 0 && (cell >> MIRE_CELL_OFFSET_SHIFT & 3) == mire__cell_offset(address);
}

/*
 * The cell of an address in a plane, by its page, where nothing is about to change: not in a page that is being
 * emptied. False: there is none.
 */
MIRE_INLINE bool mire__cells_plain(_Atomic uint32_t **cell, const struct heap *heap, uint64_t address, uint32_t plane)
{
    const uint64_t root = mire__cells_root(heap, address, plane);

    *cell = (_Atomic uint32_t *)(uintptr_t)(root + (address >> (MIRE_CELL_SPAN_LOG - 2) & 4 * MIRE_CELL_LAST));
    return __builtin_expect((int64_t)root > 0, 1);
}

/* Is it the last of its page? */
MIRE_INLINE bool mire__cell_is_last(const _Atomic uint32_t *cell)
{
    return ((uintptr_t)cell & 4 * MIRE_CELL_LAST) == 4 * MIRE_CELL_LAST;
}

/*
 * Note an untagged block in its cell (mire__cells_plain), where nothing is in the way. False: nothing is done.
 *   aligned  its address is known to be a multiple of 8
 */
MIRE_INLINE bool mire__cell_as_set(_Atomic uint32_t *at, uint64_t address, uint64_t size, uint32_t node, bool aligned)
{
    uint32_t cell = node << MIRE_CELL_NODE_SHIFT | mire__cell_offset_bits(address);

    if ((!aligned && (address & 7) != 0) || (mire__cell_get(at) & MIRE_CELL_SIZE_MASK))
        return false;
    if (__builtin_expect(size <= MIRE_CELL_SHORT_MAX, 1)) {
        atomic_store_explicit(at, cell | (uint32_t)(size + 1), memory_order_release);
        return true;
    }
    if (size > MIRE_CELL_SIZE_MAX || mire__cell_is_last(at) || mire__cell_get(at + 1) & MIRE_CELL_SIZE_MASK)
        return false;
    atomic_store_explicit(at + 1, (uint32_t)size << MIRE_CELL_OFFSET_SHIFT, memory_order_relaxed);
    atomic_store_explicit(at, cell | MIRE_CELL_SIZE_NEXT, memory_order_release);
    return true;
}

/* The same by its address, while nothing is moved. */
MIRE_INLINE bool mire__cells_as_set(struct heap *heap, uint64_t address, uint64_t size, uint32_t node)
{
    _Atomic uint32_t *at;

    return mire__cells_plain(&at, heap, address, mire__cell_plane(address, mire__heap_how(heap, MIRE_HOW_APART))) &&
           mire__cell_as_set(at, address, size, node, false);
}

/*
 * Take an untagged block out of its cell (mire__cells_plain), while nothing is moved: what is nearly always to be done,
 * in registers alone. False: nothing is done.
 */
MIRE_INLINE bool mire__cell_as_take(struct live_block *was, _Atomic uint32_t *at, uint64_t address)
{
    const uint32_t told = MIRE_CELL_TAGGED | 3u << MIRE_CELL_OFFSET_SHIFT;
    uint32_t cell = mire__cell_get(at), next;
    uint64_t size;

    /* Tells of an address that is no multiple of 8 from all as well: its last bits meet none that are told. */
    if (__builtin_expect((cell & told) != (uint32_t)(address % 32) << (MIRE_CELL_OFFSET_SHIFT - 3), 0))
        return false;
    size = (uint64_t)(cell & MIRE_CELL_SIZE_MASK) - 1;
    if (__builtin_expect(size > MIRE_CELL_SHORT_MAX, 0)) {
        next = mire__cell_is_last(at) ? 0 : mire__cell_get(at + 1);
        if ((cell & MIRE_CELL_SIZE_MASK) != MIRE_CELL_SIZE_NEXT || next & MIRE_CELL_SIZE_MASK)
            return false;
        size = next >> MIRE_CELL_OFFSET_SHIFT;
    }
    atomic_store_explicit(at, 0, memory_order_relaxed);
    *was = (struct live_block){.size = size, .node = cell >> MIRE_CELL_NODE_SHIFT};
    return true;
}

/* The same by its address, in a plane. */
MIRE_INLINE bool mire__cells_as_take(struct live_block *was, const struct heap *heap, uint64_t address, uint32_t plane)
{
    _Atomic uint32_t *at;

    return mire__cells_plain(&at, heap, address, plane) && mire__cell_as_take(was, at, address);
}

/* Take a block out of its cell in a page. False: it is not there, or just now taken by the keeper. */
static inline bool mire__cell_as_clear(struct live_block *was, struct heap *heap, _Atomic uint32_t *page,
                                       uint64_t address)
{
    /* Read before the cell: what was moved out of that meanwhile is not there, once nothing is moved any more. */
    bool moving = (atomic_load_explicit(&heap->how, memory_order_acquire) & MIRE_HOW_MOVING) != 0;
    uint32_t at = mire__cell_of(address), cell;

    /* Acquired: one that the keeper has emptied is found in the other table. */
    cell = atomic_load_explicit(&page[at], memory_order_acquire);
    if (!mire__cell_is(cell, address) || !mire__cell_unpack(was, cell, mire__cell_next(page, at)))
        return false;
    if (__builtin_expect(moving, 0))
        return atomic_compare_exchange_strong_explicit(&page[at], &cell, 0, memory_order_acquire, memory_order_acquire);
    atomic_store_explicit(&page[at], 0, memory_order_relaxed);
    return true;
}

/* The same by its address, of a block that was noted as it would be now. */
static inline bool mire__cells_as_clear(struct live_block *was, struct heap *heap, uint64_t address)
{
    const uint32_t plane = mire__cell_plane(address, mire__heap_how(heap, MIRE_HOW_APART));
    _Atomic uint32_t *page;

    return (address & ~(MIRE_HEAP_ADDRESS_MASK & ~UINT64_C(7))) == 0 && (page = mire__cells_at(heap, address, plane)) &&
           mire__cell_as_clear(was, heap, page, address);
}

/* ---- the filter of the other table ---- */

/*
 * A byte for each KiB of address space, in turn: blocks that are freed one after the other lie close together, so their
 * bytes are in the nearest cache. With one from a hash for each address that is a line of 64 KiB for each free.
 */
static inline uint32_t mire__filter_at(uint64_t address)
{
    return (uint32_t)(address >> 10 ^ address >> 26) % MIRE_HEAP_FILTER;
}
_Static_assert(MIRE_HEAP_FILTER <= 1u << (MIRE_HEAP_ADDRESS_BITS - 26),
               "the bits that a pointer's tag may be in say nothing");

/* Is a block at that address possibly there? It may bear a tag. */
static inline bool mire__filter_has(const _Atomic uint8_t *filter, uint64_t address)
{
    return atomic_load_explicit(&filter[mire__filter_at(address)], memory_order_relaxed) != 0;
}
static inline bool mire__blocks_maybe(const struct heap *heap, uint64_t address)
{
    return mire__filter_has(heap->filter, address);
}

#endif
