/*
 * reclaim.c - see reclaim.h.
 *
 * A shadow page is given back in steps. Between two of them every thread has left its slot, so no thread still uses
 * what it read before:
 *
 *     1  its reference in the page directory is marked CLOSING: new blocks go to the block table, clearing goes on
 *     2  wait until every thread that was inside has left
 *     3  move its blocks to the block table and clear the reference; if that fails, take the mark away
 *     4  wait again; then the page is a hole, and may become the page of other addresses
 *
 * Entries are moved while MIRE_FLAG_MOVING is set. Nobody adds an entry then, and threads clear entries by exchange: of
 * two that want an entry, one gets it. A move holds the lock of the block's segment; so does a thread that did not find
 * the block in its shadow entry.
 */
#include "heap/reclaim.h"

#include "heap/block_table.h"
#include "heap/inside.h"
#include "heapread/read.h"
#include "platform/platform.h"

#include <string.h>

/* The wait for threads inside ends after this time, for one may be stopped there. The next round tries again. */
#define QUIET_NS (100 * MIRE_NS_PER_MS)

/*
 * Naps between two looks, each twice as long as the one before: a thread that lost its processor gets it back sooner.
 */
#define NAP_NS     50000
#define NAP_MAX_NS (5 * MIRE_NS_PER_MS)

/* The result of a look at a page: it was sparse; otherwise the number of rounds without another look. */
#define LOOK_SPARSE 255u
#define LOOK_DENSE  3u

/* Pages that share one wait for threads inside. */
#define PAGES_AT_ONCE 256u

/* Two segments are joined if they have no more entries than this together. */
#define JOIN_ENTRIES (MIRE_SEGMENT_ENTRIES / 2)

/* ---- waiting for threads inside ---- */

static bool all_left(struct heap *heap)
{
    uint64_t until = mire__now_ns() + QUIET_NS;
    uint32_t count;

    mire__barrier_all(); /* before the count: a thread that takes its slot after it sees the change */
    count = atomic_load_explicit(&heap->header->slots_used, memory_order_acquire);
    for (uint32_t i = 0; i < count && i < MIRE_HEAP_THREADS_MAX; i++) {
        _Atomic uint32_t *inside = &heap->slots[i].inside;

        for (uint64_t nap = NAP_NS; atomic_load_explicit(inside, memory_order_acquire) != 0; nap *= 2) {
            uint64_t now = mire__now_ns();

            if (now > until)
                return false;
            mire__futex_wait(inside, 1, now + (nap < NAP_MAX_NS ? nap : NAP_MAX_NS));
        }
    }
    return true;
}

/* ---- shadow pages ---- */

/* The reference to a page in use. */
static shadow_ref *ref_of(const struct heap *heap, uint32_t number)
{
    uint64_t key = atomic_load_explicit(&heap->keys[number], memory_order_relaxed);

    return mire__shadow_ref(heap, mire__key_begin(key), mire__key_phase(key));
}

/* Move the blocks of a closing page to the block table. *blocks: how many. Returns false if some are left. */
static bool empty_page(uint32_t *blocks, struct heap *heap, uint32_t number)
{
    _Atomic uint32_t *page = mire__shadow_page(heap, number);
    uint64_t begin = mire__key_begin(atomic_load_explicit(&heap->keys[number], memory_order_relaxed));
    bool empty = true;

    *blocks = 0;
    for (uint32_t at = 0; at < MIRE_SHADOW_PAGE_ENTRIES; at++) {
        uint32_t shadow = mire__shadow_get(&page[at]);
        uint64_t address =
            begin + ((uint64_t)at << MIRE_SHADOW_SPAN_LOG) + ((shadow >> MIRE_SHADOW_OFFSET_SHIFT & 3) << 3);
        struct live_block block;

        if (at % 2 == 0 && mire__shadow_sizes(&page[at]) == 0) {
            at++; /* both are empty */
            continue;
        }
        if (mire__shadow_unpack(&block, shadow, mire__shadow_next(page, at)) &&
            mire__block_table_as_adopt(heap, address, &block, &page[at], shadow))
            ++*blocks;
        empty &= (mire__shadow_get(&page[at]) & MIRE_SHADOW_SIZE_MASK) == 0;
    }
    return empty;
}

/* Empty some closing pages and give them back; open again those that cannot be emptied. Returns how many. */
static uint32_t give_back(struct heap *heap, const uint32_t *numbers, uint32_t count)
{
    uint32_t empty[PAGES_AT_ONCE], empty_count = 0, given = 0;
    bool quiet;

    mire__heap_flags_change(heap, MIRE_FLAG_MOVING, MIRE_FLAG_MOVING);
    quiet = all_left(heap);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t open = mire__ref_of_page(mire__shadow_page(heap, numbers[i]));
        uint32_t blocks = 0;
        bool take = quiet && empty_page(&blocks, heap, numbers[i]);

        atomic_store_explicit(ref_of(heap, numbers[i]), take ? MIRE_REF_COUNTING | MIRE_REF_SPARSE | blocks : open,
                              memory_order_release);
        if (take) {
            atomic_store_explicit(&heap->keys[numbers[i]], 0, memory_order_release);
            empty[empty_count++] = numbers[i];
        }
    }
    mire__heap_flags_change(heap, MIRE_FLAG_MOVING, 0);
    if (empty_count == 0 || !all_left(heap))
        return 0; /* a thread will not leave: the pages without a reference are lost for this run */
    for (uint32_t i = 0, run; i < empty_count; i += run) {
        for (run = 1; i + run < empty_count && empty[i + run] == empty[i] + run;)
            run++;
        if (!mire__heap_give_pages(heap, mire__shadow_page(heap, empty[i]), run) ||
            !mire__heap_lock(&heap->shadow_lock.taken))
            continue;
        for (uint32_t j = 0; j < run; j++)
            heap->shadow_spare.numbers[heap->shadow_spare.count++] = empty[i + j];
        mire__heap_unlock(&heap->shadow_lock.taken);
        given += run;
    }
    return given;
}

/*
 * Is a page to be given back? Unless it is to be `at_once`, it must be sparse in two rounds in a row: little may live
 * there for a moment alone, and a program may free everything before it ends.
 */
static bool is_done_with(struct heap *heap, uint32_t number, bool at_once)
{
    uint8_t *look = &heap->shadow_looks[number], was = *look;

    if (was > 0 && was < LOOK_SPARSE && !at_once && !mire__heap_is_tight(heap)) {
        *look = was - 1;
        return false;
    }
    *look = LOOK_DENSE;
    if (!mire__shadow_is_sparse(mire__shadow_page(heap, number)))
        return false;
    at_once |= was == LOOK_SPARSE;
    *look = at_once ? 0 : LOOK_SPARSE;
    return at_once;
}

/* Give sparse pages back: all of them at once, or until there is room enough. */
static uint32_t trim(struct heap *heap, bool at_once)
{
    uint32_t count = atomic_load_explicit(&heap->header->shadow_pages_used, memory_order_acquire);
    uint32_t numbers[PAGES_AT_ONCE], found = 0, given = 0;

    for (uint32_t i = 0; i < count && (at_once || !mire__heap_is_roomy(heap)); i++) {
        uint64_t open = mire__ref_of_page(mire__shadow_page(heap, i));

        if (atomic_load_explicit(&heap->keys[i], memory_order_relaxed) != 0 && is_done_with(heap, i, at_once) &&
            atomic_compare_exchange_strong_explicit(ref_of(heap, i), &open, open | MIRE_REF_CLOSING,
                                                    memory_order_relaxed, memory_order_relaxed))
            numbers[found++] = i;
        if (found == PAGES_AT_ONCE) {
            given += give_back(heap, numbers, found);
            found = 0;
        }
    }
    return found > 0 ? given + give_back(heap, numbers, found) : given;
}

/* ---- segments of the block table ---- */

/* Entries in a segment; counting stops above the number that can be joined. */
static uint32_t entry_count(const struct heap_segment *segment)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES && count <= JOIN_ENTRIES; i++)
        count += atomic_load_explicit(&segment->entries[i].where, memory_order_relaxed) != 0;
    return count;
}

/*
 * Copy the entries of `from` into free places of `to`, in their windows. Both are locked; a reader does not believe
 * them there yet. False: one finds no place, and `to` is as it was.
 */
static bool copy_entries(struct heap_segment *to, const struct heap_segment *from)
{
    uint64_t copied[(MIRE_SEGMENT_ENTRIES + 63) / 64] = {0};
    uint32_t i, at;

    for (i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        uint64_t where = atomic_load_explicit(&from->entries[i].where, memory_order_relaxed);
        uint32_t line = mire__block_line(mire__block_hash(mire__where_address(where))), j = 0;

        if (where == 0)
            continue;
        do {
            at = (line * 4 + j) % MIRE_SEGMENT_ENTRIES;
        } while (atomic_load_explicit(&to->entries[at].where, memory_order_relaxed) && ++j < 4 * MIRE_SEGMENT_WINDOW);
        if (j == 4 * MIRE_SEGMENT_WINDOW)
            break;
        atomic_store_explicit(&to->entries[at].what, atomic_load_explicit(&from->entries[i].what, memory_order_relaxed),
                              memory_order_relaxed);
        atomic_store_explicit(&to->entries[at].where, where, memory_order_release);
        copied[at / 64] |= UINT64_C(1) << at % 64;
    }
    for (at = 0; i < MIRE_SEGMENT_ENTRIES && at < MIRE_SEGMENT_ENTRIES; at++) {
        if (copied[at / 64] >> at % 64 & 1)
            atomic_store_explicit(&to->entries[at].where, 0, memory_order_relaxed);
    }
    return i == MIRE_SEGMENT_ENTRIES;
}

/* Join two halves into the lower one. Both are locked. */
static bool join(struct heap *heap, uint32_t lower, uint32_t upper)
{
    struct heap_segment *to = &heap->blocks[lower], *from = &heap->blocks[upper];
    uint32_t covers = atomic_load_explicit(&to->covers, memory_order_relaxed);
    uint32_t joined = MIRE_COVERS_DEPTH(covers) | MIRE_COVERS_PREFIX(covers) / 2 << 8;

    if (entry_count(to) + entry_count(from) > JOIN_ENTRIES || !copy_entries(to, from))
        return false;
    atomic_store_explicit(&to->covers, joined, memory_order_release);
    atomic_store_explicit(&from->covers, 0, memory_order_release);
    mire__block_table_point(heap, joined, lower);
    return true;
}

/* The number of the upper half of a split segment, if neither half was split again; otherwise 0. */
static uint32_t buddy_of(const struct heap *heap, uint32_t number)
{
    uint32_t covers = 0, depth, prefix, other;

    if (mire__heap_is_there(heap, number))
        covers = atomic_load_explicit(&heap->blocks[number].covers, memory_order_relaxed);
    if (covers == 0)
        return 0;
    depth = MIRE_COVERS_DEPTH(covers);
    prefix = MIRE_COVERS_PREFIX(covers);
    if (depth == 0 || depth > MIRE_SEGMENT_BITS_MAX || prefix & 1)
        return 0;
    other = atomic_load_explicit(&heap->block_directory[(prefix + 1) << (MIRE_SEGMENT_BITS_MAX - depth)],
                                 memory_order_relaxed);
    return atomic_load_explicit(&heap->blocks[other].covers, memory_order_relaxed) == covers + 256 ? other : 0;
}

/* Join pairs of segments, one level; give the emptied ones back. Returns how many. */
static uint32_t join_blocks(struct heap *heap)
{
    uint32_t count = atomic_load_explicit(&heap->header->segments_used, memory_order_acquire);
    uint32_t emptied[PAGES_AT_ONCE], emptied_count = 0, given = 0;

    for (uint32_t i = 0; i < count && emptied_count < PAGES_AT_ONCE; i++) {
        uint32_t other = buddy_of(heap, i);

        if (other == 0 || !mire__heap_lock(&heap->blocks[i].lock))
            continue;
        if (mire__heap_lock(&heap->blocks[other].lock)) {
            if (buddy_of(heap, i) == other && join(heap, i, other))
                emptied[emptied_count++] = other;
            mire__heap_unlock(&heap->blocks[other].lock);
        }
        mire__heap_unlock(&heap->blocks[i].lock);
    }
    if (emptied_count == 0 || !all_left(heap))
        return 0;
    for (uint32_t i = 0; i < emptied_count; i++) {
        mire__heap_set_there(heap, emptied[i], false);
        if (!mire__heap_give_pages(heap, &heap->blocks[emptied[i]], 1) || !mire__heap_lock(&heap->split_lock.taken))
            continue;
        heap->block_spare.numbers[heap->block_spare.count++] = emptied[i];
        mire__heap_unlock(&heap->split_lock.taken);
        given++;
    }
    return given;
}

/* Thin the tables to the interval in force, unless a thread inside does not leave. */
static void degrade(struct heap_reclaimed *kept, struct heap *heap, uint64_t *random)
{
    mire__heap_flags_change(heap, MIRE_FLAG_MOVING, MIRE_FLAG_MOVING);
    if (all_left(heap)) {
        kept->blocks_thinned += mire__heap_thin(heap, mire__heap_as_interval(heap), random);
        kept->degraded = true;
        atomic_store_explicit(&heap->pressed, 0, memory_order_release);
    }
    mire__heap_flags_change(heap, MIRE_FLAG_MOVING, 0);
}

void mire__heap_reclaim(struct heap_reclaimed *kept, struct heap *heap, uint64_t now_ns, uint64_t random)
{
    memset(kept, 0, sizeof(*kept));
    atomic_store_explicit(&heap->header->seen_ns, now_ns, memory_order_relaxed);
    if (atomic_load_explicit(&heap->pressed, memory_order_acquire) && mire__heap_as_mode(heap) == MIRE_HEAP_SAMPLED)
        degrade(kept, heap, &random);
    kept->pages_given_back = trim(heap, kept->degraded);
    for (uint32_t joined = 1, level = 0; joined > 0 && level < MIRE_SEGMENT_BITS_MAX; level++)
        kept->pages_given_back += joined = kept->degraded || !mire__heap_is_roomy(heap) ? join_blocks(heap) : 0;
}
