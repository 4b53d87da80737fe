/*
 * heap_ids.c - see heap.h: from ids to objects. A dump has its objects nearly in the order of their addresses, but not
 * quite: the ids are sorted by radix, which goes over the arrays from one end to the other, and are then found through a
 * table of a million beginnings.
 */
#include "hprof/heap.h"

#include <stdlib.h>

#define BUCKETS (1u << 20)

struct sorting {
    uint64_t *ids, *other_ids;
    uint32_t *rows, *other_rows;
};

/* By one byte of the ids. */
static void sort_byte(struct sorting *s, struct spill *spill, uint32_t count, unsigned shift)
{
    uint32_t begin[257] = {0};
    for (uint32_t i = 0; i < count; i++, spill_relax(spill))
        begin[(s->ids[i] >> shift & 0xff) + 1]++;
    for (int i = 0; i < 256; i++)
        begin[i + 1] += begin[i];
    for (uint32_t i = 0; i < count; i++, spill_relax(spill)) {
        uint32_t at = begin[s->ids[i] >> shift & 0xff]++;
        s->other_ids[at] = s->ids[i];
        s->other_rows[at] = s->rows[i];
    }
    *s = (struct sorting){s->other_ids, s->ids, s->other_rows, s->rows};
}

static void make_buckets(struct heap *heap)
{
    uint32_t count = heap->count, at = 0;
    heap->least_id = count ? heap->sorted[0] : 0;
    uint64_t range = count ? heap->sorted[count - 1] - heap->least_id : 0;
    while (range >> heap->shift >= BUCKETS)
        heap->shift++;
    for (uint32_t i = 0; i < count; i++, spill_relax(heap->spill))
        for (uint64_t bucket = (heap->sorted[i] - heap->least_id) >> heap->shift; at <= bucket;)
            heap->bucket[at++] = i;
    while (at <= BUCKETS)
        heap->bucket[at++] = count;
}

bool heap_sort_ids(struct heap *heap)
{
    struct sorting s = {.ids = spill_array(heap->spill, heap->count, sizeof *s.ids),
                        .other_ids = spill_array(heap->spill, heap->count, sizeof *s.ids),
                        .rows = spill_array(heap->spill, heap->count, sizeof *s.rows),
                        .other_rows = spill_array(heap->spill, heap->count, sizeof *s.rows)};
    uint64_t differ = 0;
    bool rising = true;
    heap->bucket = calloc(BUCKETS + 1, sizeof *heap->bucket);
    if (!s.ids || !s.other_ids || !s.rows || !s.other_rows || !heap->bucket)
        return false;
    for (uint32_t i = 0; i < heap->count; i++, spill_relax(heap->spill)) {
        s.ids[i] = heap->ids[i];
        s.rows[i] = i;
        differ |= heap->ids[i] ^ heap->ids[0];
        rising = rising && (!i || heap->ids[i - 1] <= heap->ids[i]);
    }
    for (unsigned shift = 0; !rising && shift < 64; shift += 8)
        if (differ >> shift & 0xff)
            sort_byte(&s, heap->spill, heap->count, shift);
    spill_drop(heap->spill, s.other_ids);
    spill_drop(heap->spill, s.other_rows);
    heap->sorted = s.ids;
    heap->sorted_row = s.rows;
    make_buckets(heap);
    return true;
}

uint32_t heap_find(const struct heap *heap, uint64_t id)
{
    uint64_t bucket = (id - heap->least_id) >> heap->shift;
    if (id < heap->least_id || bucket >= BUCKETS)
        return UINT32_MAX;
    uint32_t low = heap->bucket[bucket], high = heap->bucket[bucket + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (heap->sorted[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < heap->count && heap->sorted[low] == id ? heap->sorted_row[low] : UINT32_MAX;
}
