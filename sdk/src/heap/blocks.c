/* blocks.c - see blocks.h: shadow pages, and the choice between the two tables. Signal-safe. */
#include "heap/blocks.h"

#include "heap/classes.h"
#include "heap/block_table.h"
#include "heap/inside.h"
#include "heap/stacks.h"

/* ---- counting ---- */

static void count(struct heap *heap, struct heap_slot *slot, const struct live_block *block)
{
    if (block->tagged)
        mire__classes_as_count(heap, mire__node_as_class(heap, block->node), block->size);
    else
        mire__slot_as_count(heap, slot, block->size);
}

static void uncount(struct heap *heap, struct heap_slot *slot, const struct live_block *block)
{
    if (block->tagged)
        mire__classes_as_uncount(heap, mire__node_as_class(heap, block->node), block->size);
    else if (block->interval == 0)
        mire__slot_as_uncount(heap, slot, block->size);
}

/* ---- shadow pages ---- */

/* Make the directory's table for an address, if it is missing. False: no room. Under shadow_lock. */
static bool make_table(struct heap *heap, uint64_t address, uint32_t phase)
{
    _Atomic(shadow_ref *) *table = mire__shadow_table(heap, address, phase);

    if (atomic_load_explicit(table, memory_order_relaxed))
        return true;
    if (heap->directory_tables_count == MIRE_DIRECTORY_TABLES_MAX ||
        !mire__heap_claim_anonymous(heap, MIRE_DIRECTORY_TABLE_REFS * sizeof(shadow_ref)))
        return false;
    atomic_store_explicit(table,
                          heap->directory_tables + (size_t)heap->directory_tables_count++ * MIRE_DIRECTORY_TABLE_REFS,
                          memory_order_release);
    return true;
}

/* An empty shadow page for a key, without a reference yet; NULL: no room. Under shadow_lock. */
static _Atomic uint32_t *fresh_page(struct heap *heap, uint64_t key)
{
    _Atomic uint32_t *used = &heap->header->shadow_pages_used;
    uint32_t number = atomic_load_explicit(used, memory_order_relaxed);

    if (heap->shadow_spare.count > 0) {
        number = heap->shadow_spare.numbers[heap->shadow_spare.count - 1];
        if (!mire__heap_claim_page(heap, mire__shadow_page(heap, number)))
            return NULL;
        heap->shadow_spare.count--;
    } else {
        if (number >= heap->shadow_spare.cap ||
            !mire__heap_claim(heap, MIRE_HEAP_KEYS, (number + UINT64_C(1)) * sizeof(uint64_t)) ||
            !mire__heap_claim(heap, MIRE_HEAP_SHADOW, (number + UINT64_C(1)) * MIRE_HEAP_PAGE_BYTES))
            return NULL;
        atomic_store_explicit(used, number + 1, memory_order_release);
    }
    atomic_store_explicit(&heap->keys[number], key, memory_order_release);
    return mire__shadow_page(heap, number);
}

/* The reference of an address in the page directory, made if it is missing; NULL: no room. */
static shadow_ref *ref_of(struct heap *heap, uint64_t address, uint32_t phase)
{
    if (!mire__shadow_ref(heap, address, phase) && mire__heap_lock(&heap->shadow_lock.taken)) {
        make_table(heap, address, phase);
        mire__heap_unlock(&heap->shadow_lock.taken);
    }
    return mire__shadow_ref(heap, address, phase);
}

/* The value of an address's reference; 0 if there is none. */
static inline uint64_t ref_at(const struct heap *heap, uint64_t address, uint32_t phase)
{
    shadow_ref *ref = mire__shadow_ref(heap, address, phase);

    return ref ? atomic_load_explicit(ref, memory_order_acquire) : 0;
}

/* The shadow page of an address, if blocks may be added to it; otherwise NULL. */
static inline _Atomic uint32_t *open_page(const struct heap *heap, uint64_t address, uint32_t phase)
{
    uint64_t ref = ref_at(heap, address, phase);

    return (int64_t)ref > 0 ? mire__ref_page(ref) : NULL;
}

bool mire__shadow_is_sparse(const _Atomic uint32_t *page)
{
    const uint64_t each = UINT64_C(1) << 32 | 1;
    uint64_t counts = 0; /* of even entries and of odd ones */

    for (uint32_t i = 0; i < MIRE_SHADOW_PAGE_ENTRIES;) {
        for (uint32_t end = i + MIRE_SHADOW_PAGE_ENTRIES / 8; i < end; i += 2)
            counts +=
                (mire__shadow_sizes(&page[i]) + MIRE_SHADOW_SIZE_MASK * each) / (MIRE_SHADOW_SIZE_MASK + 1) & each;
        if ((uint32_t)counts + (counts >> 32) > MIRE_SHADOW_SPARSE)
            return false;
    }
    return true;
}

/* Has an address a shadow page? dense: one that is not sparse */
static bool is_paged(const struct heap *heap, uint64_t address, uint32_t phase, bool dense)
{
    const _Atomic uint32_t *page = address <= MIRE_HEAP_ADDRESS_MASK ? open_page(heap, address, phase) : NULL;

    return page && !(dense && mire__shadow_is_sparse(page));
}

/* How many blocks have come to a reference without a page, up to MIRE_SHADOW_BUSY. */
static uint32_t came(uint64_t counted)
{
    return (uint32_t)(counted & ~(MIRE_REF_COUNTING | MIRE_REF_SPARSE)) / MIRE_REF_CAME;
}

/* Do blocks around an address begin in another phase, too? */
static bool is_parted(const struct heap *heap, uint64_t address, uint32_t phase)
{
    for (uint32_t other = 0; other < MIRE_SHADOW_PHASES; other++) {
        if (other != phase && ref_at(heap, address, other) != 0)
            return true;
    }
    return false;
}

/* Is a shadow page worth its memory, by the counts of a reference without one, when a block of that size comes? */
static bool is_worth(const struct heap *heap, uint64_t address, uint32_t phase, uint64_t counted, uint64_t size)
{
    uint64_t span = UINT64_C(1) << MIRE_SHADOW_PAGE_SPAN_LOG;
    bool tight = mire__heap_is_tight(heap);

    if (came(counted) >= MIRE_SHADOW_BUSY && !tight)
        return true;
    if (size >= MIRE_SHADOW_WIDE && is_parted(heap, address, phase))
        return (counted & MIRE_REF_LIVE) >= MIRE_SHADOW_PARTED;
    if ((counted & MIRE_REF_LIVE) >= MIRE_SHADOW_DENSE ||
        (came(counted) >= MIRE_SHADOW_COMING && mire__heap_is_roomy(heap)))
        return true;
    return size <= MIRE_SHADOW_SMALL && !(counted & MIRE_REF_SPARSE) &&
           (is_paged(heap, address - span, phase, tight) || is_paged(heap, address + span, phase, tight));
}

/* Count one more block of that size. Returns whether its address is worth a shadow page. */
static bool one_more(struct heap *heap, uint64_t address, uint32_t phase, uint64_t size)
{
    const bool small = size <= MIRE_SHADOW_SMALL;
    shadow_ref *ref = small ? ref_of(heap, address, phase) : mire__shadow_ref(heap, address, phase);
    uint64_t was = ref ? atomic_load_explicit(ref, memory_order_relaxed) : 0, now;

    if (!ref)
        return false;
    do {
        if (mire__ref_page(was))
            return true; /* it has one by now */
        now = (was | MIRE_REF_COUNTING) + (small ? 1 : 0) + (came(was) < MIRE_SHADOW_BUSY ? MIRE_REF_CAME : 0);
        if (is_worth(heap, address, phase, now, size))
            return true;
    } while (!atomic_compare_exchange_weak_explicit(ref, &was, now, memory_order_relaxed, memory_order_relaxed));
    return false;
}

/* The phase of a new block at an address. */
static uint32_t phase_of(const struct heap *heap, uint64_t address)
{
    return mire__shadow_phase(address, mire__heap_flags(heap, MIRE_FLAG_ONE_PHASE) != 0);
}

/* Count one small block less. */
static void one_less(struct heap *heap, uint64_t address)
{
    shadow_ref *ref = mire__shadow_ref(heap, address, phase_of(heap, address));
    uint64_t was = ref ? atomic_load_explicit(ref, memory_order_relaxed) : 0;

    while (was != 0 && !mire__ref_page(was) && was & MIRE_REF_LIVE &&
           !atomic_compare_exchange_weak_explicit(ref, &was, was - 1, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Make the shadow page of an address, if there is room and it has none yet. */
static void make_page(struct heap *heap, uint64_t address, uint32_t phase)
{
    if (!mire__heap_lock(&heap->shadow_lock.taken))
        return;
    if (make_table(heap, address, phase)) {
        shadow_ref *ref = mire__shadow_ref(heap, address, phase);
        bool there = mire__ref_page(atomic_load_explicit(ref, memory_order_relaxed)) != NULL;
        _Atomic uint32_t *page = there ? NULL : fresh_page(heap, mire__key_make(address, phase));

        if (page)
            atomic_store_explicit(ref, mire__ref_of_page(page), memory_order_release);
    }
    mire__heap_unlock(&heap->shadow_lock.taken);
}

/* ---- shadow entries ---- */

/* End the block of this shadow entry: its free was not seen. */
static void end_unseen(struct heap *heap, struct heap_slot *slot, _Atomic uint32_t *page, uint32_t at)
{
    struct live_block was;
    uint32_t shadow = atomic_exchange_explicit(&page[at], 0, memory_order_relaxed);

    if (mire__shadow_unpack(&was, shadow, mire__shadow_next(page, at)))
        uncount(heap, slot, &was);
    mire__heap_as_drop(heap, MIRE_HEAP_DROP_OVERLAP);
}

/*
 * The page with the entry of a block at exactly this address; NULL if there is none. Two phases are searched, as
 * MIRE_FLAG_ONE_PHASE may have been cleared since the block came.
 */
static _Atomic uint32_t *page_of(const struct heap *heap, uint64_t address)
{
    const uint32_t at = mire__shadow_index(address), own = mire__shadow_phase(address, false);

    for (uint32_t phase = 0; (address & 7) == 0; phase = own) {
        _Atomic uint32_t *page = mire__ref_page(ref_at(heap, address, phase));

        /* Acquire: a block whose entry the reclaimer has emptied is then found in the block table. */
        if (page && mire__shadow_is(atomic_load_explicit(&page[at], memory_order_acquire), address))
            return page;
        if (phase == own)
            break;
    }
    return NULL;
}

/* Record a block in its shadow entry. False: it has to go to the block table. */
static bool set_shadow(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    const uint32_t phase = phase_of(heap, address), at = mire__shadow_index(address);
    _Atomic uint32_t *page = open_page(heap, address, phase);
    uint32_t shadow;

    if (!page) {
        if (!one_more(heap, address, phase, block->size))
            return false;
        make_page(heap, address, phase);
        if (!(page = open_page(heap, address, phase)))
            return false;
    }
    if (mire__shadow_get(&page[at]) & MIRE_SHADOW_SIZE_MASK)
        return false;
    shadow = block->node << MIRE_SHADOW_NODE_SHIFT | (block->tagged ? MIRE_SHADOW_TAGGED : 0) |
             mire__shadow_offset(address) << MIRE_SHADOW_OFFSET_SHIFT;
    if (block->size <= MIRE_SHADOW_SHORT_MAX) {
        atomic_store_explicit(&page[at], shadow | (uint32_t)(block->size + 1), memory_order_release);
        return true;
    }
    if (at == MIRE_SHADOW_LAST)
        return false;
    if (mire__shadow_get(&page[at + 1]) & MIRE_SHADOW_SIZE_MASK)
        end_unseen(heap, slot, page, at + 1);
    atomic_store_explicit(&page[at + 1], (uint32_t)block->size << MIRE_SHADOW_OFFSET_SHIFT, memory_order_relaxed);
    atomic_store_explicit(&page[at], shadow | MIRE_SHADOW_SIZE_NEXT, memory_order_release);
    return true;
}

/* ---- blocks of either table ---- */

static bool record(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *block)
{
    _Atomic uint32_t *stale = page_of(heap, address);
    bool in_shadow = block->size <= MIRE_SHADOW_SIZE_MAX && block->interval == 0 && (address & 7) == 0 &&
                     mire__heap_flags(heap, MIRE_FLAG_SHADOW | MIRE_FLAG_MOVING) == MIRE_FLAG_SHADOW;
    struct live_block was;
    bool replaced;

    if (stale)
        end_unseen(heap, slot, stale, mire__shadow_index(address));
    if (in_shadow && set_shadow(heap, slot, address, block))
        return true;
    if (!mire__block_table_as_put(&was, &replaced, heap, address, block))
        return false;
    if (replaced) {
        uncount(heap, slot, &was);
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_OVERLAP);
    }
    return true;
}

bool mire__block_as_put_back(struct heap *heap, struct heap_slot *slot, uint64_t address, const struct live_block *was)
{
    if (address == 0 || address > MIRE_HEAP_ADDRESS_MASK || !record(heap, slot, address, was))
        return false;
    if (was->interval == 0 || was->tagged)
        count(heap, slot, was);
    return true;
}

bool mire__block_as_set_slow(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node)
{
    struct live_block block = {.size = size, .node = node};

    return mire__block_as_put_back(heap, slot, address, &block);
}

bool mire__block_as_sample(struct heap *heap, struct heap_slot *slot, uint64_t address, uint64_t size, uint32_t node,
                           uint32_t interval)
{
    struct live_block block = {.size = size, .node = node, .interval = interval % MIRE_HEAP_INTERVALS_MAX};

    return mire__block_as_put_back(heap, slot, address, &block);
}

bool mire__block_as_clear_slow(struct live_block *was, struct heap *heap, struct heap_slot *slot, uint64_t address)
{
    _Atomic uint32_t *page;

    if (address > MIRE_HEAP_ADDRESS_MASK)
        return false;
    page = page_of(heap, address);
    if (!page || !mire__shadow_as_clear_entry(was, heap, page, address)) {
        if (!mire__block_table_as_take(was, heap, address))
            return false;
        if (was->size <= MIRE_SHADOW_SMALL && was->interval == 0)
            one_less(heap, address);
    }
    uncount(heap, slot, was);
    return true;
}

void mire__block_as_uncount_tagged(struct heap *heap, const struct live_block *block)
{
    mire__classes_as_uncount(heap, mire__node_as_class(heap, block->node), block->size);
}

bool mire__block_as_find(struct live_block *found, const struct heap *heap, uint64_t address)
{
    _Atomic uint32_t *page = address <= MIRE_HEAP_ADDRESS_MASK ? page_of(heap, address) : NULL;
    uint32_t at = mire__shadow_index(address);

    if (page && mire__shadow_unpack(found, mire__shadow_get(&page[at]), mire__shadow_next(page, at)))
        return true;
    return address <= MIRE_HEAP_ADDRESS_MASK && mire__block_table_as_find(found, heap, address);
}

/* Give the block of a shadow entry another node. False: it is no longer there. */
static bool change_shadow(struct heap *heap, uint64_t address, uint32_t node)
{
    _Atomic uint32_t *page = page_of(heap, address);
    uint32_t at = mire__shadow_index(address), shadow = page ? mire__shadow_get(&page[at]) : 0, to;

    if (!mire__shadow_is(shadow, address))
        return false;
    to = (shadow & (MIRE_SHADOW_TAGGED - 1)) | MIRE_SHADOW_TAGGED | node << MIRE_SHADOW_NODE_SHIFT;
    return atomic_compare_exchange_strong_explicit(&page[at], &shadow, to, memory_order_release, memory_order_relaxed);
}

bool mire__block_as_tag(struct heap *heap, struct heap_slot *slot, uint64_t address, uint32_t class)
{
    uint64_t frame = MIRE_HEAP_TAG_BASE + class % MIRE_HEAP_CLASSES_MAX;
    struct live_block block;
    uint32_t node;

    if (class == 0 || class >= MIRE_HEAP_CLASSES_MAX || !mire__block_as_find(&block, heap, address) ||
        !mire__nodes_as_push(&node, heap, mire__node_as_untagged(heap, block.node), &frame, 1))
        return false;
    if (!change_shadow(heap, address, node) && !mire__block_table_as_change(heap, address, node, true))
        return false;
    uncount(heap, slot, &block);
    block.node = node;
    block.tagged = true;
    count(heap, slot, &block);
    return true;
}
