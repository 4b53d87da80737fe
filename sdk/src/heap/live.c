/* live.c - see live.h: cells, and which of the two tables a block goes to. Signal-safe. */
#include "heap/live.h"

#include "heap/classes.h"
#include "heap/inside.h"
#include "heap/nodes.h"

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

/* The table of pages for the 256 MiB around an address, made. NULL: no room. Under cells_lock. */
static _Atomic uint32_t *make_root(struct heap *heap, uint64_t address)
{
    _Atomic(_Atomic uint32_t *) *root = &heap->roots[address >> MIRE_HEAP_ROOT_LOG];
    _Atomic uint32_t *table = atomic_load_explicit(root, memory_order_relaxed);

    if (table)
        return table;
    if (heap->root_count == MIRE_HEAP_ROOT_CAP ||
        !mire__heap_claim_anonymous(heap, MIRE_HEAP_ROOT_SIZE * sizeof(uint32_t)))
        return NULL;
    table = heap->root_tables + (size_t)heap->root_count++ * MIRE_HEAP_ROOT_SIZE;
    atomic_store_explicit(root, table, memory_order_release);
    return table;
}

/* The number + 1 of an empty page of cells; 0: no room. Under cells_lock. */
static uint32_t fresh_page(struct heap *heap)
{
    _Atomic uint32_t *used = &heap->header->cell_pages_used;
    uint32_t number = atomic_load_explicit(used, memory_order_relaxed);

    if (heap->cell_spare.count > 0) {
        number = heap->cell_spare.numbers[heap->cell_spare.count - 1];
        if (!mire__heap_claim_page(heap, mire__cells_page(heap, number + 1)))
            return 0;
        heap->cell_spare.count--;
        return number + 1;
    }
    if (number >= heap->cell_spare.cap ||
        !mire__heap_claim(heap, MIRE_HEAP_KEYS, (number + UINT64_C(1)) * sizeof(uint64_t)) ||
        !mire__heap_claim(heap, MIRE_HEAP_CELLS, (number + UINT64_C(1)) * MIRE_HEAP_PAGE_BYTES))
        return 0;
    atomic_store_explicit(used, number + 1, memory_order_release);
    return number + 1;
}

/* The entry of an address among the roots, made if it is missing; NULL: no room. */
static _Atomic uint32_t *root_of(struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *root = mire__cells_root(heap, address);

    if (!root && mire__heap_lock(&heap->cells_lock.taken)) {
        make_root(heap, address);
        mire__heap_unlock(&heap->cells_lock.taken);
        root = mire__cells_root(heap, address);
    }
    return root;
}

/* Is there a page of cells for what lies before or behind these 32 KiB? */
static bool page_beside(const struct heap *heap, uint64_t address)
{
    uint64_t span = UINT64_C(1) << MIRE_CELLS_SPAN_LOG;

    return (address >= span && mire__cells_at(heap, address - span)) ||
           (address + span <= MIRE_HEAP_ADDRESS_MASK && mire__cells_at(heap, address + span));
}

/* Is a page worth it, by what is counted where there is none? */
static bool is_worth(const struct heap *heap, uint64_t address, uint32_t counted, bool small)
{
    uint32_t live = counted & MIRE_PAGE_LIVE,
             came = (counted & ~(MIRE_PAGE_COUNTING | MIRE_PAGE_SPARSE)) / MIRE_PAGE_CAME;

    if (live >= MIRE_CELLS_DENSE || (small && !(counted & MIRE_PAGE_SPARSE) && page_beside(heap, address)))
        return true;
    return came >= MIRE_CELLS_COMING &&
           atomic_load_explicit(&heap->header->claimed_bytes, memory_order_relaxed) < heap->budget_bytes / 2;
}

/* One more block lives around an address. Returns whether these are worth a page of cells. */
static bool one_more(struct heap *heap, uint64_t address, bool small)
{
    _Atomic uint32_t *root = small ? root_of(heap, address) : mire__cells_root(heap, address);
    uint32_t was = root ? atomic_load_explicit(root, memory_order_relaxed) : 0, now;

    if (!root)
        return false;
    do {
        if (was != 0 && !(was & MIRE_PAGE_COUNTING))
            return true; /* it has one */
        now = (was | MIRE_PAGE_COUNTING) + (small ? 1 : 0);
        if ((now & ~(MIRE_PAGE_COUNTING | MIRE_PAGE_SPARSE)) < MIRE_CELLS_COMING * MIRE_PAGE_CAME)
            now += MIRE_PAGE_CAME;
        if (is_worth(heap, address, now, small))
            return true;
    } while (!atomic_compare_exchange_weak_explicit(root, &was, now, memory_order_relaxed, memory_order_relaxed));
    return false;
}

/* One small block less. */
static void one_less(struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *root = mire__cells_root(heap, address);
    uint32_t was = root ? atomic_load_explicit(root, memory_order_relaxed) : 0;

    while (was & MIRE_PAGE_COUNTING && was & MIRE_PAGE_LIVE &&
           !atomic_compare_exchange_weak_explicit(root, &was, was - 1, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static uint32_t make_page(struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *table;
    uint32_t number = 0;

    if (!mire__heap_lock(&heap->cells_lock.taken))
        return 0;
    table = make_root(heap, address);
    if (table) {
        _Atomic uint32_t *at = &table[(address >> MIRE_CELLS_SPAN_LOG) % MIRE_HEAP_ROOT_SIZE];

        number = atomic_load_explicit(at, memory_order_relaxed);
        if ((number == 0 || number & MIRE_PAGE_COUNTING) && (number = fresh_page(heap))) {
            atomic_store_explicit(&heap->keys[number - 1], (address >> MIRE_CELLS_SPAN_LOG) + 1, memory_order_release);
            atomic_store_explicit(at, number, memory_order_release);
        }
    }
    mire__heap_unlock(&heap->cells_lock.taken);
    return number;
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

/* Note a block in its cell. False: it has to go to the other table. */
static bool set_cell(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    _Atomic uint32_t *root = mire__cells_root(heap, address), *page;
    uint32_t number = root ? atomic_load_explicit(root, memory_order_acquire) : 0, at = mire__cell_of(address);
    bool apart = mire__heap_how(heap, MIRE_HOW_APART) != 0;
    uint32_t cell, was;

    if (number == 0 || number & MIRE_PAGE_COUNTING) {
        if (!one_more(heap, address, block->size <= MIRE_LIVE_SMALL))
            return false;
        number = make_page(heap, address);
    }
    if (number == 0 || number & (MIRE_PAGE_CLOSING | MIRE_PAGE_COUNTING))
        return false;
    page = mire__cells_page(heap, number);
    was = mire__cell_get(&page[at]);
    if (was & MIRE_CELL_SIZE_MASK) {
        if ((was >> MIRE_CELL_OFFSET_SHIFT & 3) != mire__cell_offset(address))
            return false;
        end_unseen(heap, slot, page, at);
        was = 0;
    }
    cell = block->node << MIRE_CELL_NODE_SHIFT | (block->tagged ? MIRE_CELL_TAGGED : 0) |
           mire__cell_offset(address) << MIRE_CELL_OFFSET_SHIFT;
    if (block->size <= MIRE_CELL_SHORT_MAX)
        return mire__cell_begin(&page[at], was, cell | (uint32_t)(block->size + 1), apart);
    if (at == MIRE_CELL_LAST)
        return false;
    if (mire__cell_get(&page[at + 1]) & MIRE_CELL_SIZE_MASK)
        end_unseen(heap, slot, page, at + 1);
    atomic_store_explicit(&page[at + 1], (uint32_t)block->size << MIRE_CELL_OFFSET_SHIFT, memory_order_relaxed);
    return mire__cell_begin(&page[at], was, cell | MIRE_CELL_SIZE_NEXT, apart);
}

/* ---- blocks of either table ---- */

static bool note(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    _Atomic uint32_t *page = address & 7 ? NULL : mire__cells_at(heap, address);
    struct live_block was;
    bool replaced;

    if (block->size <= MIRE_CELL_SIZE_MAX && block->interval == 0 && (address & 7) == 0 &&
        mire__heap_how(heap, MIRE_HOW_CELLS | MIRE_HOW_MOVING) == MIRE_HOW_CELLS &&
        set_cell(heap, slot, address, block))
        return true;
    if (page && mire__cell_is(mire__cell_get(&page[mire__cell_of(address)]), address))
        end_unseen(heap, slot, page, mire__cell_of(address));
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
    if (address > MIRE_HEAP_ADDRESS_MASK || !mire__blocks_as_take(was, heap, address))
        return false;
    if (was->size <= MIRE_LIVE_SMALL && was->interval == 0)
        one_less(heap, address);
    uncount(heap, slot, was);
    return true;
}

void mire__live_as_uncount_tagged(struct heap *heap, const struct live_block *block)
{
    mire__classes_as_uncount(heap, mire__live_as_class(heap, block->node), block->size);
}

bool mire__live_as_find(struct live_block *found, const struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *page;
    uint32_t at = mire__cell_of(address), cell;

    if (address > MIRE_HEAP_ADDRESS_MASK)
        return false;
    page = address & 7 ? NULL : mire__cells_at(heap, address);
    cell = page ? mire__cell_get(&page[at]) : 0;
    if (page && mire__cell_is(cell, address) && mire__cell_unpack(found, cell, mire__cell_next(page, at)))
        return true;
    return mire__blocks_as_find(found, heap, address);
}

/* Give the block in a cell another node. False: it is no longer there. */
static bool change_cell(struct heap *heap, uint64_t address, uint32_t node)
{
    _Atomic uint32_t *page = address & 7 ? NULL : mire__cells_at(heap, address);
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
