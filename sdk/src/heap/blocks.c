/* blocks.c - see blocks.h: cells, and which of the two tables a block goes to. Signal-safe. */
#include "heap/blocks.h"

#include "heap/classes.h"
#include "heap/inside.h"
#include "heap/stacks.h"

/* ---- counting ---- */

static void count(struct heap *heap, struct heap_slot *slot, const struct live_block *block)
{
    if (block->tagged)
        mire__classes_as_count(heap, mire__live_as_class(heap, block->node), block->size);
    else
        mire__slot_as_count(heap, slot, block->size);
}

static void uncount(struct heap *heap, struct heap_slot *slot, const struct live_block *block)
{
    if (block->tagged)
        mire__classes_as_uncount(heap, mire__live_as_class(heap, block->node), block->size);
    else if (block->interval == 0)
        mire__slot_as_uncount(heap, slot, block->size);
}

/* ---- pages of cells ---- */

/* The table of pages around an address, made. False: no room. Under cells_lock. */
static bool make_table(struct heap *heap, uint64_t address, uint32_t plane)
{
    _Atomic(heap_root *) *table = mire__cells_table(heap, address, plane);

    if (atomic_load_explicit(table, memory_order_relaxed))
        return true;
    if (heap->root_count == MIRE_HEAP_ROOT_CAP ||
        !mire__heap_claim_anonymous(heap, MIRE_HEAP_ROOT_SIZE * sizeof(heap_root)))
        return false;
    atomic_store_explicit(table, heap->root_tables + (size_t)heap->root_count++ * MIRE_HEAP_ROOT_SIZE,
                          memory_order_release);
    return true;
}

/* An empty page of cells for an address, reached by nobody yet; NULL: no room. Under cells_lock. */
static _Atomic uint32_t *fresh_page(struct heap *heap, uint64_t key)
{
    _Atomic uint32_t *used = &heap->header->cell_pages_used;
    uint32_t number = atomic_load_explicit(used, memory_order_relaxed);

    if (heap->cell_spare.count > 0) {
        number = heap->cell_spare.numbers[heap->cell_spare.count - 1];
        if (!mire__heap_claim_page(heap, mire__cells_page(heap, number)))
            return NULL;
        heap->cell_spare.count--;
    } else {
        if (number >= heap->cell_spare.cap ||
            !mire__heap_claim(heap, MIRE_HEAP_KEYS, (number + UINT64_C(1)) * sizeof(uint64_t)) ||
            !mire__heap_claim(heap, MIRE_HEAP_CELLS, (number + UINT64_C(1)) * MIRE_HEAP_PAGE_BYTES))
            return NULL;
        atomic_store_explicit(used, number + 1, memory_order_release);
    }
    atomic_store_explicit(&heap->keys[number], key, memory_order_release);
    return mire__cells_page(heap, number);
}

/* The entry of an address among the roots, made if it is missing; NULL: no room. */
static heap_root *root_of(struct heap *heap, uint64_t address, uint32_t plane)
{
    if (!mire__cells_root_in(heap, address, plane) && mire__heap_lock(&heap->cells_lock.taken)) {
        make_table(heap, address, plane);
        mire__heap_unlock(&heap->cells_lock.taken);
    }
    return mire__cells_root_in(heap, address, plane);
}

/* What the roots say of an address. */
static inline uint64_t root_at(const struct heap *heap, uint64_t address, uint32_t plane)
{
    heap_root *root = mire__cells_root_in(heap, address, plane);

    return root ? atomic_load_explicit(root, memory_order_acquire) : 0;
}

/* The page around an address, if blocks may be added to it; else NULL. */
static inline _Atomic uint32_t *open_page(const struct heap *heap, uint64_t address, uint32_t plane)
{
    uint64_t root = root_at(heap, address, plane);

    return (int64_t)root > 0 ? mire__root_page(root) : NULL;
}

bool mire__cells_sparse(const _Atomic uint32_t *page)
{
    const uint64_t each = UINT64_C(1) << 32 | 1;
    uint64_t counts = 0; /* of even cells and of odd ones */

    for (uint32_t i = 0; i < MIRE_CELLS_PAGE;) {
        for (uint32_t end = i + MIRE_CELLS_PAGE / 8; i < end; i += 2)
            counts += (mire__cells_sizes(&page[i]) + MIRE_CELL_SIZE_MASK * each) / (MIRE_CELL_SIZE_MASK + 1) & each;
        if ((uint32_t)counts + (counts >> 32) > MIRE_CELLS_SPARSE)
            return false;
    }
    return true;
}

/* Is a page of cells there for the 32 KiB around an address, with more than few in it if it must be `dense`? */
static bool is_paged(const struct heap *heap, uint64_t address, uint32_t plane, bool dense)
{
    const _Atomic uint32_t *page = address <= MIRE_HEAP_ADDRESS_MASK ? open_page(heap, address, plane) : NULL;

    return page && !(dense && mire__cells_sparse(page));
}

/* How many blocks came where there is no page, up to what is enough by any rule. */
static uint32_t came(uint64_t counted)
{
    return (uint32_t)(counted & ~(MIRE_ROOT_COUNTING | MIRE_ROOT_SPARSE)) / MIRE_ROOT_CAME;
}

/* Do blocks around an address begin in another plane, too? */
static bool is_parted(const struct heap *heap, uint64_t address, uint32_t plane)
{
    for (uint32_t other = 0; other < MIRE_CELLS_PLANES; other++) {
        if (other != plane && root_at(heap, address, other) != 0)
            return true;
    }
    return false;
}

/* Is a page worth it for a block of that size, by what is counted where there is none? */
static bool is_worth(const struct heap *heap, uint64_t address, uint32_t plane, uint64_t counted, uint64_t size)
{
    uint64_t span = UINT64_C(1) << MIRE_CELLS_SPAN_LOG;
    bool tight = mire__heap_is_tight(heap);

    if (came(counted) >= MIRE_CELLS_BUSY && !tight)
        return true;
    if (size >= MIRE_CELLS_WIDE && is_parted(heap, address, plane))
        return (counted & MIRE_ROOT_LIVE) >= MIRE_CELLS_PARTED;
    if ((counted & MIRE_ROOT_LIVE) >= MIRE_CELLS_DENSE ||
        (came(counted) >= MIRE_CELLS_COMING && mire__heap_is_roomy(heap)))
        return true;
    return size <= MIRE_LIVE_SMALL && !(counted & MIRE_ROOT_SPARSE) &&
           (is_paged(heap, address - span, plane, tight) || is_paged(heap, address + span, plane, tight));
}

/* One more block of that size lives around an address. Returns whether these are worth a page of cells. */
static bool one_more(struct heap *heap, uint64_t address, uint32_t plane, uint64_t size)
{
    const bool small = size <= MIRE_LIVE_SMALL;
    heap_root *root = small ? root_of(heap, address, plane) : mire__cells_root_in(heap, address, plane);
    uint64_t was = root ? atomic_load_explicit(root, memory_order_relaxed) : 0, now;

    if (!root)
        return false;
    do {
        if (mire__root_page(was))
            return true; /* it has one */
        now = (was | MIRE_ROOT_COUNTING) + (small ? 1 : 0) + (came(was) < MIRE_CELLS_BUSY ? MIRE_ROOT_CAME : 0);
        if (is_worth(heap, address, plane, now, size))
            return true;
    } while (!atomic_compare_exchange_weak_explicit(root, &was, now, memory_order_relaxed, memory_order_relaxed));
    return false;
}

/* The plane that a block at an address is put into now. */
static uint32_t plane_of(const struct heap *heap, uint64_t address)
{
    return mire__cell_plane(address, mire__heap_how(heap, MIRE_HOW_APART) != 0);
}

/* One small block less. */
static void one_less(struct heap *heap, uint64_t address)
{
    heap_root *root = mire__cells_root_in(heap, address, plane_of(heap, address));
    uint64_t was = root ? atomic_load_explicit(root, memory_order_relaxed) : 0;

    while (was != 0 && !mire__root_page(was) && was & MIRE_ROOT_LIVE &&
           !atomic_compare_exchange_weak_explicit(root, &was, was - 1, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Make the page around an address, if there is room and none is there yet. */
static void make_page(struct heap *heap, uint64_t address, uint32_t plane)
{
    if (!mire__heap_lock(&heap->cells_lock.taken))
        return;
    if (make_table(heap, address, plane)) {
        heap_root *root = mire__cells_root_in(heap, address, plane);
        bool there = mire__root_page(atomic_load_explicit(root, memory_order_relaxed)) != NULL;
        _Atomic uint32_t *page = there ? NULL : fresh_page(heap, mire__key_make(address, plane));

        if (page)
            atomic_store_explicit(root, mire__root_of_page(page), memory_order_release);
    }
    mire__heap_unlock(&heap->cells_lock.taken);
}

/* ---- cells ---- */

/* A block whose end was not seen begins in this cell: it has ended. */
static void end_unseen(struct heap *heap, struct heap_slot *slot, _Atomic uint32_t *page, uint32_t at)
{
    struct live_block was;
    uint32_t cell = atomic_exchange_explicit(&page[at], 0, memory_order_relaxed);

    if (mire__cell_unpack(&was, cell, mire__cell_next(page, at)))
        uncount(heap, slot, &was);
    mire__heap_as_drop(heap, MIRE_HEAP_DROP_OVERLAP);
}

/*
 * The page in which a block at this very address begins; NULL if there is none. It is in one of two planes: whether no
 * two blocks begin in one cell may be another answer now than it was then.
 */
static _Atomic uint32_t *page_of(const struct heap *heap, uint64_t address)
{
    const uint32_t at = mire__cell_of(address), own = mire__cell_plane(address, false);

    for (uint32_t plane = 0; (address & 7) == 0; plane = own) {
        _Atomic uint32_t *page = mire__root_page(root_at(heap, address, plane));

        /* Acquired: one that the keeper has emptied is found in the other table. */
        if (page && mire__cell_is(atomic_load_explicit(&page[at], memory_order_acquire), address))
            return page;
        if (plane == own)
            break;
    }
    return NULL;
}

/* Note a block in its cell. False: it has to go to the other table. */
static bool set_cell(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    const uint32_t plane = plane_of(heap, address), at = mire__cell_of(address);
    _Atomic uint32_t *page = open_page(heap, address, plane);
    uint32_t cell;

    if (!page) {
        if (!one_more(heap, address, plane, block->size))
            return false;
        make_page(heap, address, plane);
        if (!(page = open_page(heap, address, plane)))
            return false;
    }
    if (mire__cell_get(&page[at]) & MIRE_CELL_SIZE_MASK)
        return false;
    cell = block->node << MIRE_CELL_NODE_SHIFT | (block->tagged ? MIRE_CELL_TAGGED : 0) |
           mire__cell_offset(address) << MIRE_CELL_OFFSET_SHIFT;
    if (block->size <= MIRE_CELL_SHORT_MAX) {
        atomic_store_explicit(&page[at], cell | (uint32_t)(block->size + 1), memory_order_release);
        return true;
    }
    if (at == MIRE_CELL_LAST)
        return false;
    if (mire__cell_get(&page[at + 1]) & MIRE_CELL_SIZE_MASK)
        end_unseen(heap, slot, page, at + 1);
    atomic_store_explicit(&page[at + 1], (uint32_t)block->size << MIRE_CELL_OFFSET_SHIFT, memory_order_relaxed);
    atomic_store_explicit(&page[at], cell | MIRE_CELL_SIZE_NEXT, memory_order_release);
    return true;
}

/* ---- blocks of either table ---- */

static bool note(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    _Atomic uint32_t *stale = page_of(heap, address);
    bool in_cells = block->size <= MIRE_CELL_SIZE_MAX && block->interval == 0 && (address & 7) == 0 &&
                    mire__heap_how(heap, MIRE_HOW_CELLS | MIRE_HOW_MOVING) == MIRE_HOW_CELLS;
    struct live_block was;
    bool replaced;

    if (stale)
        end_unseen(heap, slot, stale, mire__cell_of(address));
    if (in_cells && set_cell(heap, slot, address, block))
        return true;
    if (!mire__blocks_as_put(&was, &replaced, heap, address, block))
        return false;
    if (replaced) {
        uncount(heap, slot, &was);
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_OVERLAP);
    }
    return true;
}

bool mire__live_as_put(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *was)
{
    if (address == 0 || address > MIRE_HEAP_ADDRESS_MASK || !note(heap, slot, address, was))
        return false;
    if (was->interval == 0 || was->tagged)
        count(heap, slot, was);
    return true;
}

bool mire__live_as_set_else(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node)
{
    struct live_block block = {.size = size, .node = node};

    return mire__live_as_put(heap, slot, address, &block);
}

bool mire__live_as_sample(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node,
                          uint32_t interval)
{
    struct live_block block = {.size = size, .node = node, .interval = interval % MIRE_HEAP_INTERVALS_MAX};

    return mire__live_as_put(heap, slot, address, &block);
}

bool mire__live_as_clear_else(struct live_block *was, struct heap *heap, struct heap_slot *slot, uint64_t address)
{
    _Atomic uint32_t *page;

    if (address > MIRE_HEAP_ADDRESS_MASK)
        return false;
    page = page_of(heap, address);
    if (!page || !mire__cell_as_clear(was, heap, page, address)) {
        if (!mire__blocks_as_take(was, heap, address))
            return false;
        if (was->size <= MIRE_LIVE_SMALL && was->interval == 0)
            one_less(heap, address);
    }
    uncount(heap, slot, was);
    return true;
}

void mire__live_as_uncount_tagged(struct heap *heap, const struct live_block *block)
{
    mire__classes_as_uncount(heap, mire__live_as_class(heap, block->node), block->size);
}

bool mire__live_as_find(struct live_block *found, const struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *page = address <= MIRE_HEAP_ADDRESS_MASK ? page_of(heap, address) : NULL;
    uint32_t at = mire__cell_of(address);

    if (page && mire__cell_unpack(found, mire__cell_get(&page[at]), mire__cell_next(page, at)))
        return true;
    return address <= MIRE_HEAP_ADDRESS_MASK && mire__blocks_as_find(found, heap, address);
}

/* Give the block in a cell another node. False: it is no longer there. */
static bool change_cell(struct heap *heap, uint64_t address, uint32_t node)
{
    _Atomic uint32_t *page = page_of(heap, address);
    uint32_t at = mire__cell_of(address), cell = page ? mire__cell_get(&page[at]) : 0, to;

    if (!mire__cell_is(cell, address))
        return false;
    to = (cell & (MIRE_CELL_TAGGED - 1)) | MIRE_CELL_TAGGED | node << MIRE_CELL_NODE_SHIFT;
    return atomic_compare_exchange_strong_explicit(&page[at], &cell, to, memory_order_release, memory_order_relaxed);
}

bool mire__live_as_tag(struct heap *heap, struct heap_slot *slot, uint64_t address, uint32_t class)
{
    uint64_t frame = MIRE_HEAP_TAG_BASE + class % MIRE_HEAP_CLASSES_MAX;
    struct live_block block;
    uint32_t node;

    if (class == 0 || class >= MIRE_HEAP_CLASSES_MAX || !mire__live_as_find(&block, heap, address) ||
        !mire__nodes_as_push(&node, heap, mire__live_as_untagged(heap, block.node), &frame, 1))
        return false;
    if (!change_cell(heap, address, node) && !mire__blocks_as_change(heap, address, node, true))
        return false;
    uncount(heap, slot, &block);
    block.node = node;
    block.tagged = true;
    count(heap, slot, &block);
    return true;
}
