/* index.c - see index.h. Signal-safe. */
#include "heap/index.h"

#include "heap/inside.h"

#include <string.h>

/* Segments whose memory is counted at a time. */
#define SEGMENTS_STEP 32u

static void put(_Atomic uint32_t *segment, uint64_t hash, uint32_t entry)
{
    uint32_t at = mire__index_begin(hash);

    while (atomic_load_explicit(&segment[at % MIRE_INDEX_ENTRIES], memory_order_relaxed))
        at++;
    atomic_store_explicit(&segment[at % MIRE_INDEX_ENTRIES], entry, memory_order_release);
}

/* Make the directory of one more bit of the hash and use it. False: there is no room. */
static bool deepen(struct heap *heap, struct heap_index *index)
{
    uint32_t depth = atomic_load_explicit(&index->depth, memory_order_relaxed), slots = 1u << depth;
    _Atomic uint16_t *from = index->directories + slots, *to = from + slots;
    uint64_t bytes = 2 * slots * sizeof(*to);

    /* Smaller ones lie in the first page. */
    if (bytes >= MIRE_HEAP_PAGE_BYTES && !mire__heap_claim_anonymous(heap, bytes))
        return false;
    for (uint32_t i = 0; i < 2 * slots; i++)
        atomic_store_explicit(&to[i], atomic_load_explicit(&from[i / 2], memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&index->depth, depth + 1, memory_order_release);
    return true;
}

/* Let the upper half of the slots of a segment, whose hashes share `depth` bits, name another. */
static void point_upper(struct heap_index *index, uint64_t hash, uint32_t depth, uint32_t to)
{
    uint32_t bits = atomic_load_explicit(&index->depth, memory_order_relaxed), half = 1u << (bits - depth - 1);
    uint64_t bit = UINT64_C(1) << (63 - depth), upper = (hash & ~(bit - 1)) | bit;
    _Atomic uint16_t *slot = mire__index_slot(index, upper, bits);

    for (uint32_t i = 0; i < half; i++)
        atomic_store_explicit(&slot[i], (uint16_t)to, memory_order_release);
}

/* Split the segment of `hash` in two. False: it is as small as can be, or there is no room. */
static bool split(struct heap *heap, struct heap_index *index, uint64_t hash,
                  uint64_t (*hash_of)(const struct heap *heap, uint32_t number))
{
    uint32_t bits = atomic_load_explicit(&index->depth, memory_order_relaxed), old[MIRE_INDEX_ENTRIES];
    uint16_t from = atomic_load_explicit(mire__index_slot(index, hash, bits), memory_order_relaxed);
    uint32_t to = index->segment_count, depth = index->about[from].depth;
    _Atomic uint32_t *segments[2] = {index->segments + (size_t)from * MIRE_INDEX_ENTRIES,
                                     index->segments + (size_t)to * MIRE_INDEX_ENTRIES};

    if (depth == MIRE_INDEX_BITS_MAX || to == index->segment_cap)
        return false;
    if (depth == bits && !deepen(heap, index))
        return false;
    if (to % SEGMENTS_STEP == 0 &&
        !mire__heap_claim_anonymous(heap, SEGMENTS_STEP * MIRE_INDEX_ENTRIES * sizeof(uint32_t)))
        return false;
    index->segment_count++;
    for (uint32_t i = 0; i < MIRE_INDEX_ENTRIES; i++) {
        old[i] = atomic_load_explicit(&segments[0][i], memory_order_relaxed);
        atomic_store_explicit(&segments[0][i], 0, memory_order_relaxed);
    }
    index->about[from].depth = index->about[to].depth = (uint8_t)(depth + 1);
    index->about[from].count = 0;
    for (uint32_t i = 0; i < MIRE_INDEX_ENTRIES; i++) {
        if (old[i]) {
            uint64_t h = hash_of(heap, old[i] & MIRE_INDEX_NUMBER);
            uint32_t side = (uint32_t)(h >> (63 - depth)) & 1;

            put(segments[side], h, old[i]);
            index->about[side ? to : from].count++;
        }
    }
    point_upper(index, hash, depth, to);
    return true;
}

bool mire__index_add(struct heap *heap, struct heap_index *index, uint64_t hash, uint32_t number,
                     uint64_t (*hash_of)(const struct heap *heap, uint32_t number))
{
    for (;;) {
        uint32_t bits = atomic_load_explicit(&index->depth, memory_order_relaxed);
        uint32_t at = atomic_load_explicit(mire__index_slot(index, hash, bits), memory_order_relaxed);

        if (index->about[at].count < MIRE_INDEX_FULL) {
            put(index->segments + (size_t)at * MIRE_INDEX_ENTRIES, hash, mire__index_entry(hash, number));
            index->about[at].count++;
            return true;
        }
        if (!split(heap, index, hash, hash_of))
            return false;
    }
}
