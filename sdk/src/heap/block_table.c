/* block_table.c - the hash table of live blocks. Signal-safe.
 *
 * Each segment has a lock; the reclaimer alone holds two. The directory is read again under the lock, for the segment
 * may have been split or joined meanwhile. A split is a row of single stores (mire__block_table_split), and between
 * any two of them a reader finds every entry once (heapread/file.h).
 */
#include "heap/block_table.h"

#include "heap/inside.h"

#include <string.h>

/* ---- filter ---- */

void mire__filter_add(struct heap *heap, uint64_t address)
{
    _Atomic uint8_t *at = &heap->filter[mire__filter_at(address)];
    uint8_t was = atomic_load_explicit(at, memory_order_relaxed);

    while (was != UINT8_MAX && !atomic_compare_exchange_weak_explicit(at, &was, (uint8_t)(was + 1),
                                                                      memory_order_relaxed, memory_order_relaxed)) {
    }
}

void mire__filter_take(struct heap *heap, uint64_t address)
{
    _Atomic uint8_t *at = &heap->filter[mire__filter_at(address)];
    uint8_t was = atomic_load_explicit(at, memory_order_relaxed);

    while (was != UINT8_MAX && was != 0 &&
           !atomic_compare_exchange_weak_explicit(at, &was, (uint8_t)(was - 1), memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

/* ---- segments ---- */

/* The segment of a hash, locked; NULL if the lock could not be taken. */
static struct heap_segment *lock_segment(struct heap *heap, uint64_t hash)
{
    struct heap_segment *segment = mire__block_table_segment(heap, hash), *now;

    while (mire__heap_lock(&segment->lock)) {
        now = mire__block_table_segment(heap, hash);
        if (now == segment)
            return segment;
        mire__heap_unlock(&segment->lock);
        segment = now;
    }
    return NULL;
}

/* The next of the lines in which an entry may lie. */
static struct heap_entry *line_behind(struct heap_segment *segment, struct heap_entry *line)
{
    return line + 4 < &segment->entries[MIRE_SEGMENT_ENTRIES] ? line + 4 : segment->entries;
}

static bool is_of(const struct heap_entry *entry, uint64_t address)
{
    return mire__where_address(atomic_load_explicit(&entry->where, memory_order_relaxed) ^ address) == 0;
}

/* The entry of an address, NULL if there is none. It is nearly always in its first line. */
static struct heap_entry *look_for(struct heap_segment *segment, uint64_t hash, uint64_t address)
{
    struct heap_entry *line = mire__segment_line(segment, hash);

    for (uint32_t i = 0; i < MIRE_SEGMENT_WINDOW; i++, line = line_behind(segment, line)) {
        if (is_of(&line[0], address))
            return &line[0];
        if (is_of(&line[1], address))
            return &line[1];
        if (is_of(&line[2], address))
            return &line[2];
        if (is_of(&line[3], address))
            return &line[3];
    }
    return NULL;
}

/* The first free entry of that hash; NULL if there is none. */
static struct heap_entry *look_for_free(struct heap_segment *segment, uint64_t hash)
{
    struct heap_entry *line = mire__segment_line(segment, hash);

    for (uint32_t i = 0; i < MIRE_SEGMENT_WINDOW; i++, line = line_behind(segment, line)) {
        for (uint32_t j = 0; j < 4; j++) {
            if (atomic_load_explicit(&line[j].where, memory_order_relaxed) == 0)
                return &line[j];
        }
    }
    return NULL;
}

void mire__block_table_point(struct heap *heap, uint32_t covers, uint32_t number)
{
    uint32_t depth = MIRE_COVERS_DEPTH(covers), span = 1u << (MIRE_SEGMENT_BITS_MAX - depth);

    for (uint32_t i = 0, at = MIRE_COVERS_PREFIX(covers) * span; i < span; i++)
        atomic_store_explicit(&heap->block_directory[at + i], (uint16_t)number, memory_order_release);
}

/* The number of an empty segment, claimed and zero; UINT32_MAX if there is no room. Under split_lock. */
static uint32_t fresh_segment(struct heap *heap)
{
    _Atomic uint32_t *used = &heap->header->segments_used;
    uint32_t count = atomic_load_explicit(used, memory_order_relaxed), number;

    if (heap->block_spare.count > 0) {
        number = heap->block_spare.numbers[heap->block_spare.count - 1];
        if (!mire__heap_claim_page(heap, &heap->blocks[number]))
            return UINT32_MAX;
        heap->block_spare.count--;
        mire__heap_set_there(heap, number, true);
        return number;
    }
    if (count >= heap->block_spare.cap || count > UINT16_MAX || !mire__heap_claim(heap, MIRE_HEAP_THERE, count + 1) ||
        !mire__heap_claim(heap, MIRE_HEAP_BLOCKS, (count + UINT64_C(1)) * sizeof(struct heap_segment)))
        return UINT32_MAX;
    mire__heap_set_there(heap, count, true);
    atomic_store_explicit(used, count + 1, memory_order_release);
    return count;
}

/* Is there an entry whose hash belongs to the upper half of a segment of that depth? */
static bool is_upper(const struct heap_segment *segment, uint32_t i, uint32_t depth)
{
    uint64_t where = atomic_load_explicit(&segment->entries[i].where, memory_order_relaxed);

    return where && mire__block_hash(mire__where_address(where)) >> (63 - depth) & 1;
}

/* Move the upper half of a segment's hashes to a new one. The caller holds its lock. */
static bool split_segment(struct heap *heap, struct heap_segment *from)
{
    uint32_t covers = atomic_load_explicit(&from->covers, memory_order_relaxed), depth = MIRE_COVERS_DEPTH(covers);
    uint32_t upper = (depth + 2) | (MIRE_COVERS_PREFIX(covers) * 2 + 1) << 8, number;
    struct heap_segment *to;

    if (depth >= MIRE_SEGMENT_BITS_MAX || !mire__heap_lock(&heap->split_lock.taken))
        return false;
    number = fresh_segment(heap);
    mire__heap_unlock(&heap->split_lock.taken);
    if (number == UINT32_MAX)
        return false;
    to = &heap->blocks[number];
    atomic_store_explicit(&to->lock, 1,
                          memory_order_relaxed); /* it must not be split before the whole directory names it */
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        if (is_upper(from, i, depth)) {
            atomic_store_explicit(&to->entries[i].what,
                                  atomic_load_explicit(&from->entries[i].what, memory_order_relaxed),
                                  memory_order_relaxed);
            atomic_store_explicit(&to->entries[i].where,
                                  atomic_load_explicit(&from->entries[i].where, memory_order_relaxed),
                                  memory_order_release);
        }
    }
    atomic_store_explicit(&to->covers, upper, memory_order_release);
    atomic_store_explicit(&from->covers, (depth + 2) | MIRE_COVERS_PREFIX(covers) * 2 << 8, memory_order_release);
    mire__block_table_point(heap, upper, number);
    mire__heap_unlock(&to->lock);
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) { /* by hash: other threads work on the new segment already */
        if (is_upper(from, i, depth))
            atomic_store_explicit(&from->entries[i].where, 0, memory_order_relaxed);
    }
    return true;
}

/* ---- entries ---- */

/*
 * The segment of a hash, locked, and in it the entry of an address or a free one; segments are split until there is
 * one. NULL, with the reason in *drop: no room, or no lock.
 */
static struct heap_segment *make_room(enum heap_drop *drop, struct heap_entry **entry, bool *found, struct heap *heap,
                                      uint64_t hash, uint64_t address)
{
    struct heap_segment *segment;

    *drop = MIRE_HEAP_DROP_BUSY;
    while ((segment = lock_segment(heap, hash))) {
        bool split;

        /* Entries are added to the filter under this lock: if it has none, there is no need to search. */
        *entry = mire__filter_may_hold(heap, address) ? look_for(segment, hash, address) : NULL;
        *found = *entry != NULL;
        if (!*entry)
            *entry = look_for_free(segment, hash);
        if (*entry)
            return segment;
        split = split_segment(heap, segment);
        mire__heap_unlock(&segment->lock);
        if (!split) {
            *drop = MIRE_HEAP_DROP_FULL;
            return NULL;
        }
    }
    return NULL;
}

static void store_entry(struct heap_entry *entry, uint64_t address, const struct live_block *block)
{
    uint64_t size = block->size < MIRE_WHAT_SIZE_MAX ? block->size : MIRE_WHAT_SIZE_MAX;

    atomic_store_explicit(&entry->what, size | (uint64_t)block->node << MIRE_WHAT_SIZE_BITS, memory_order_release);
    atomic_store_explicit(&entry->where, mire__where_make(address, block->interval, block->tagged),
                          memory_order_release);
}

bool mire__block_table_as_put(struct live_block *was, bool *replaced, struct heap *heap, uint64_t address,
                              const struct live_block *block)
{
    uint64_t hash = mire__block_hash(address);
    struct heap_entry *entry;
    enum heap_drop drop;
    struct heap_segment *segment = make_room(&drop, &entry, replaced, heap, hash, address);

    if (!segment) {
        mire__heap_as_drop(heap, drop);
        return false;
    }
    if (*replaced) {
        mire__block_unpack(was, atomic_load_explicit(&entry->where, memory_order_relaxed),
                           atomic_load_explicit(&entry->what, memory_order_relaxed));
        atomic_store_explicit(&entry->where, 0, memory_order_release);
    } else {
        mire__filter_add(heap, address);
    }
    store_entry(entry, address, block);
    mire__heap_unlock(&segment->lock);
    return true;
}

bool mire__block_table_as_adopt(struct heap *heap, uint64_t address, const struct live_block *block,
                                _Atomic uint32_t *at, uint32_t shadow)
{
    uint64_t hash = mire__block_hash(address);
    struct heap_entry *entry;
    enum heap_drop drop;
    bool found, moved;
    struct heap_segment *segment = make_room(&drop, &entry, &found, heap, hash, address);

    if (!segment)
        return false;
    atomic_store_explicit(&heap->header->moving, address, memory_order_release);
    if (!found) {
        mire__filter_add(heap, address);
        store_entry(entry, address, block);
    }
    moved = atomic_compare_exchange_strong_explicit(at, &shadow, MIRE_SHADOW_MOVED, memory_order_acq_rel,
                                                    memory_order_relaxed);
    if (!found && !moved) {
        atomic_store_explicit(&entry->where, 0, memory_order_release);
        mire__filter_take(heap, address);
    }
    atomic_store_explicit(&heap->header->moving, 0, memory_order_release);
    if (moved)
        atomic_store_explicit(at, 0, memory_order_release);
    mire__heap_unlock(&segment->lock);
    return moved;
}

bool mire__block_table_as_take(struct live_block *was, struct heap *heap, uint64_t address)
{
    uint64_t hash = mire__block_hash(address);
    struct heap_segment *segment;
    struct heap_entry *entry;

    if (!mire__filter_may_hold(heap, address))
        return false;
    segment = lock_segment(heap, hash);
    if (!segment) {
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_FREE);
        return false;
    }
    entry = look_for(segment, hash, address);
    if (entry) {
        mire__block_unpack(was, atomic_load_explicit(&entry->where, memory_order_relaxed),
                           atomic_load_explicit(&entry->what, memory_order_relaxed));
        atomic_store_explicit(&entry->where, 0, memory_order_release);
        mire__filter_take(heap, address);
    }
    mire__heap_unlock(&segment->lock);
    return entry != NULL;
}

bool mire__block_table_as_change(struct heap *heap, uint64_t address, uint32_t node, bool tagged)
{
    uint64_t hash = mire__block_hash(address), where, what;
    struct heap_segment *segment = mire__filter_may_hold(heap, address) ? lock_segment(heap, hash) : NULL;
    struct heap_entry *entry;

    if (!segment)
        return false;
    entry = look_for(segment, hash, address);
    if (entry) {
        where = atomic_load_explicit(&entry->where, memory_order_relaxed);
        what = atomic_load_explicit(&entry->what, memory_order_relaxed) & MIRE_WHAT_SIZE_MAX;
        atomic_store_explicit(&entry->what, what | (uint64_t)node << MIRE_WHAT_SIZE_BITS, memory_order_relaxed);
        atomic_store_explicit(&entry->where, mire__where_make(address, mire__where_interval(where), tagged),
                              memory_order_release);
    }
    mire__heap_unlock(&segment->lock);
    return entry != NULL;
}

bool mire__block_table_as_find(struct live_block *found_out, const struct heap *heap, uint64_t address)
{
    uint64_t hash = mire__block_hash(address);
    struct heap *writable = (struct heap *)(uintptr_t)heap; /* the lock alone changes */
    struct heap_segment *segment = mire__filter_may_hold(heap, address) ? lock_segment(writable, hash) : NULL;
    struct heap_entry *entry;

    if (!segment)
        return false;
    entry = look_for(segment, hash, address);
    if (entry)
        mire__block_unpack(found_out, atomic_load_explicit(&entry->where, memory_order_relaxed),
                           atomic_load_explicit(&entry->what, memory_order_relaxed));
    mire__heap_unlock(&segment->lock);
    return entry != NULL;
}
