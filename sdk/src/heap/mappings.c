/* mappings.c - see mappings.h. Signal-safe.
 *
 * Entries never move. An array of their numbers, in memory without a file, is sorted by address.
 */
#include "heap/mappings.h"

#include "heap/classes.h"
#include "heap/inside.h"

#include <string.h>

static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static struct heap_mapping *region_at(const struct heap *heap, uint32_t order)
{
    return &heap->mappings[heap->mapping_order[order]];
}

static uint64_t what_make(enum heap_kind kind, uint32_t node)
{
    return (uint64_t)kind << 32 | node;
}

/* The thread of a stack; 0: no stack. */
static uint32_t *owner_at(struct heap *heap, uint32_t order)
{
    return &heap->mapping_owner[heap->mapping_order[order]];
}

/* Addresses without memory are not counted. */
static bool is_counted(uint64_t what)
{
    return what >> 32 < MIRE_HEAP_KINDS;
}

static void count(struct heap *heap, uint64_t what, uint64_t regions, uint64_t bytes)
{
    if (is_counted(what))
        mire__shared_as_count(&heap->peaks->kinds[what >> 32], regions, bytes);
}

static void uncount(struct heap *heap, uint64_t what, uint64_t regions, uint64_t bytes)
{
    if (is_counted(what))
        mire__shared_as_uncount(&heap->peaks->kinds[what >> 32], regions, bytes);
}

/* The first mapping in order that ends after `address`. */
static uint32_t first_behind(const struct heap *heap, uint64_t address)
{
    uint32_t low = 0, high = heap->mapping_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (get(&region_at(heap, middle)->end) > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/*
 * Fill an entry and insert it in order, without counting it.
 *   whole  the mapping that the caller cuts next, and of which the new entry is the rest; NULL: none
 * False: no room.
 */
static bool insert(struct heap *heap, uint32_t order, uint64_t start, uint64_t end, uint64_t what, uint32_t owner,
                   struct heap_mapping *whole)
{
    _Atomic uint32_t *used = &heap->header->regions_used;
    uint32_t number = atomic_load_explicit(used, memory_order_relaxed);
    struct heap_mapping *region;

    if (heap->mapping_spare.count > 0) {
        number = heap->mapping_spare.numbers[--heap->mapping_spare.count];
    } else {
        if (number == MIRE_HEAP_MAPPINGS_MAX ||
            !mire__heap_claim(heap, MIRE_HEAP_MAPPINGS, (number + UINT64_C(1)) * sizeof(*region)))
            return false;
        atomic_store_explicit(used, number + 1, memory_order_release);
    }
    region = &heap->mappings[number];
    set(&region->start, start);
    set(&region->what, what);
    if (whole)
        set(&whole->rest, number + UINT64_C(1));
    set(&region->end, end);
    heap->mapping_owner[number] = owner;
    memmove(heap->mapping_order + order + 1, heap->mapping_order + order,
            (heap->mapping_count - order) * sizeof(*heap->mapping_order));
    heap->mapping_order[order] = (uint16_t)number;
    heap->mapping_count++;
    return true;
}

static void erase(struct heap *heap, uint32_t order)
{
    set(&region_at(heap, order)->end, 0);
    heap->mapping_spare.numbers[heap->mapping_spare.count++] = heap->mapping_order[order];
    heap->mapping_count--;
    memmove(heap->mapping_order + order, heap->mapping_order + order + 1,
            (heap->mapping_count - order) * sizeof(*heap->mapping_order));
}

/*
 * Take [start, end) out of all mappings.
 *   what_out  of the last cut mapping; may be NULL
 * Returns false if there was no room for the rest of a mapping that was cut in the middle.
 */
static bool cut(uint64_t *what_out, struct heap *heap, uint64_t start, uint64_t end)
{
    uint32_t order = first_behind(heap, start);
    bool room = true;

    while (order < heap->mapping_count && get(&region_at(heap, order)->start) < end) {
        struct heap_mapping *region = region_at(heap, order);
        uint64_t from = get(&region->start), to = get(&region->end), what = get(&region->what);

        if (what_out)
            *what_out = what;
        if (from >= start && to <= end) {
            erase(heap, order);
            uncount(heap, what, 1, to - from);
        } else if (from >= start) {
            set(&region->start, end);
            uncount(heap, what, 0, end - from);
            break;
        } else if (to <= end) {
            set(&region->end, start);
            uncount(heap, what, 0, to - start);
            order++;
        } else {
            room = insert(heap, order + 1, end, to, what, *owner_at(heap, order), region);
            set(&region->end, start);
            set(&region->rest, 0);
            uncount(heap, what, 0, to - start);
            if (room)
                count(heap, what, 1, to - end);
            break;
        }
    }
    return room;
}

/* Add [start, end), which is free. */
static bool add(struct heap *heap, uint64_t start, uint64_t end, uint64_t what, uint32_t owner)
{
    uint32_t order = first_behind(heap, start);
    struct heap_mapping *before = order > 0 ? region_at(heap, order - 1) : NULL;

    if (before && get(&before->end) == start && get(&before->what) == what && *owner_at(heap, order - 1) == owner) {
        set(&before->end, end);
        count(heap, what, 0, end - start);
        return true;
    }
    if (!insert(heap, order, start, end, what, owner, NULL))
        return false;
    count(heap, what, 1, end - start);
    return true;
}

static bool lock(struct heap *heap)
{
    if (mire__heap_lock(&heap->mappings_lock.taken))
        return true;
    mire__heap_as_drop(heap, MIRE_HEAP_DROP_MAPPING);
    return false;
}

static bool unlock(struct heap *heap, bool done)
{
    mire__heap_unlock(&heap->mappings_lock.taken);
    if (!done)
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_MAPPING);
    return done;
}

bool mire__mappings_as_map(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node)
{
    bool done;

    if (bytes == 0 || start + bytes < start)
        return true;
    if (!lock(heap))
        return false;
    done = cut(NULL, heap, start, start + bytes);
    done = add(heap, start, start + bytes, what_make(kind, node), 0) && done;
    return unlock(heap, done);
}

bool mire__mappings_as_renew(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind)
{
    const struct heap_mapping *there;
    uint32_t order;
    bool same;

    if (bytes == 0 || start + bytes < start || !lock(heap))
        return bytes == 0;
    order = first_behind(heap, start);
    there = order < heap->mapping_count ? region_at(heap, order) : NULL;
    same = there && get(&there->start) <= start && get(&there->end) >= start + bytes &&
           get(&there->what) == what_make(kind, 0);
    mire__heap_unlock(&heap->mappings_lock.taken);
    return same || mire__mappings_as_map(heap, start, bytes, kind, 0);
}

static bool is_reserved(const struct heap_mapping *region)
{
    return get(&region->what) >> 32 == MIRE_KIND_RESERVED;
}

bool mire__mappings_as_is_reserved(struct heap *heap, uint64_t start, uint64_t bytes)
{
    bool found = false;

    if (!lock(heap))
        return false;
    for (uint32_t i = first_behind(heap, start);
         !found && i < heap->mapping_count && get(&region_at(heap, i)->start) < start + bytes; i++)
        found = is_reserved(region_at(heap, i));
    mire__heap_unlock(&heap->mappings_lock.taken);
    return found;
}

bool mire__mappings_as_commit(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node)
{
    uint64_t end = start + bytes;
    uint32_t order;
    bool done = true;

    if (end < start || !lock(heap))
        return end < start;
    while (start < end && (order = first_behind(heap, start)) < heap->mapping_count &&
           get(&region_at(heap, order)->start) < end) {
        struct heap_mapping *region = region_at(heap, order);
        uint64_t from = get(&region->start) > start ? get(&region->start) : start;
        uint64_t to = get(&region->end) < end ? get(&region->end) : end;

        if (is_reserved(region)) {
            done = cut(NULL, heap, from, to) && done;
            done = add(heap, from, to, what_make(kind, node), 0) && done;
        }
        start = to;
    }
    return unlock(heap, done);
}

/* Has the program mapped anything in the range? */
static bool is_the_programs(const struct heap *heap, uint64_t start, uint64_t end)
{
    for (uint32_t i = first_behind(heap, start); i < heap->mapping_count && get(&region_at(heap, i)->start) < end;
         i++) {
        if (heap->mapping_owner[heap->mapping_order[i]] == 0 && (uint32_t)get(&region_at(heap, i)->what) != 0)
            return true;
    }
    return false;
}

bool mire__mappings_as_map_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t node, uint32_t owner)
{
    bool done = true;

    if (bytes == 0 || start + bytes < start)
        return true;
    if (!lock(heap))
        return false;
    if (!is_the_programs(heap, start, start + bytes)) {
        done = cut(NULL, heap, start, start + bytes);
        done = add(heap, start, start + bytes, what_make(MIRE_KIND_STACK, node), owner) && done;
    }
    return unlock(heap, done);
}

bool mire__mappings_as_end_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t owner)
{
    uint32_t order;

    if (!lock(heap))
        return false;
    order = first_behind(heap, start);
    while (order < heap->mapping_count && get(&region_at(heap, order)->start) < start + bytes) {
        uint64_t from = get(&region_at(heap, order)->start), to = get(&region_at(heap, order)->end);

        if (*owner_at(heap, order) == owner)
            cut(NULL, heap, from, to);
        order = first_behind(heap, to);
    }
    return unlock(heap, true);
}

bool mire__mappings_as_take(struct mapping_was *was, struct heap *heap, uint64_t start, uint64_t bytes)
{
    uint64_t what = UINT64_MAX;
    bool done;

    was->known = false;
    if (bytes == 0 || start + bytes < start)
        return true;
    if (!lock(heap))
        return false;
    done = cut(&what, heap, start, start + bytes);
    was->known = what != UINT64_MAX;
    was->kind = (enum heap_kind)(what >> 32);
    was->node = (uint32_t)what;
    return unlock(heap, done);
}

bool mire__mappings_as_unmap(struct heap *heap, uint64_t start, uint64_t bytes)
{
    struct mapping_was was;

    return mire__mappings_as_take(&was, heap, start, bytes);
}
