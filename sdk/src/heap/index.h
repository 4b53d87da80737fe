/*
 * index.h - a hash index that grows without a pause: numbers of entries that lie elsewhere, found by hash.
 *
 *     directories  [ 0 ] [ 0 | 1 ] [ 0 | 0 | 2 | 1 ] ...     of no, one, two ... top bits of the hash; the last is used
 *     segments     [ 128 entries ] [ 128 entries ] [ 128 entries ]
 *
 * A full segment is split in two, one at a time, so the longest growth moves 128 entries: some 10 us. When a split
 * needs one more bit of the hash than the directory has, a directory of twice the size is made. It is no larger than
 * necessary, for every search reads it first and should find it in the nearest cache. All of it lies in memory
 * without a file: the index can be rebuilt from the entries, and nobody needs it after the run.
 *
 * An entry is a number below 2^23 with 9 bits of its hash; the searcher compares the thing itself. A search takes no
 * lock and may miss an entry while its segment is split: search again under the lock before adding. One writer at a
 * time. Signal-safe throughout.
 */
#ifndef MIRE_HEAP_INDEX_H
#define MIRE_HEAP_INDEX_H

#include "heap/tables.h"

#define MIRE_INDEX_ENTRIES  128u
#define MIRE_INDEX_FULL     112u /* entries beyond which a segment is split */
#define MIRE_INDEX_BITS_MAX 15u
#define MIRE_INDEX_NUMBER   ((1u << 23) - 1)

static inline uint64_t mire__index_mix(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 32;
}

static inline uint32_t mire__index_entry(uint64_t hash, uint32_t number)
{
    return number | (uint32_t)(hash & 0x1ff) << 23;
}

/* The slot of a hash in the directory of `depth` bits. The directories lie one behind the other. */
static inline _Atomic uint16_t *mire__index_slot(const struct heap_index *index, uint64_t hash, uint32_t depth)
{
    return &index->directories[(UINT64_C(1) << 63 | hash >> 1) >> (63 - depth)];
}

/* The segment of a hash, and where in it to begin. */
static inline _Atomic uint32_t *mire__index_segment(const struct heap_index *index, uint64_t hash)
{
    uint32_t depth = atomic_load_explicit(&index->depth, memory_order_acquire);
    uint32_t at = atomic_load_explicit(mire__index_slot(index, hash, depth), memory_order_acquire);

    return index->segments + (size_t)at * MIRE_INDEX_ENTRIES;
}
static inline uint32_t mire__index_begin(uint64_t hash)
{
    return (uint32_t)(hash >> 16) % MIRE_INDEX_ENTRIES;
}

/*
 * Add a number that is not there.
 *   hash_of  the hash of any number that was added
 * Returns false if there is no room for another segment, within the budget or at all.
 * Thread: who holds the lock of what the index refers to.
 */
bool mire__index_add(struct heap *heap, struct heap_index *index, uint64_t hash, uint32_t number,
                     uint64_t (*hash_of)(const struct heap *heap, uint32_t number));

#endif
