/*
 * paint.c - one sweep over the ranges sorted by their beginning; those begun lie in a heap by rank. A range that ended
 * below the top stays in the heap until it comes up, so each range costs its way in and out once, however they overlap.
 */
#include "base/paint.h"

#include "base/grow.h"
#include "base/sort.h"

#include <stdlib.h>

bool paint_add(struct paint *paint, struct paint_range range)
{
    if (range.low >= range.high)
        return true;
    if (paint->count == UINT32_MAX || !GROW(paint))
        return false;
    paint->rows[paint->count++] = range;
    return true;
}

bool paint_begin(struct paint *paint)
{
    if (paint->side_room < paint->count) {
        uint64_t *keys = reallocarray(paint->keys, paint->room, 2 * sizeof *keys);
        if (keys)
            paint->keys = keys;
        uint32_t *heap = keys ? reallocarray(paint->heap, paint->room, sizeof *heap) : NULL;
        if (!heap)
            return false;
        paint->heap = heap;
        paint->side_room = paint->room;
    }
    for (size_t i = 0; i < paint->count; i++)
        paint->keys[i] = (uint64_t)paint->rows[i].low << 32 | i;
    if (paint->count)
        sort_keys(paint->keys, paint->keys + paint->side_room, paint->count);
    paint->heap_count = 0;
    paint->next = 0;
    paint->at = 0;
    return true;
}

/* Is row a above row b? */
static bool above(const struct paint *paint, uint32_t a, uint32_t b)
{
    uint32_t x = paint->rows[a].rank;
    uint32_t y = paint->rows[b].rank;
    return x != y ? x > y : a > b;
}

static void push(struct paint *paint, uint32_t row)
{
    size_t at = paint->heap_count++;
    while (at && above(paint, row, paint->heap[(at - 1) / 2])) {
        paint->heap[at] = paint->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    paint->heap[at] = row;
}

static void pop(struct paint *paint)
{
    uint32_t row = paint->heap[--paint->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < paint->heap_count; at = child) {
        if (child + 1 < paint->heap_count && above(paint, paint->heap[child + 1], paint->heap[child]))
            child++;
        if (above(paint, row, paint->heap[child]))
            break;
        paint->heap[at] = paint->heap[child];
    }
    paint->heap[at] = row;
}

bool paint_next(struct paint_range *out, struct paint *paint)
{
    for (;;) {
        while (paint->heap_count && paint->rows[paint->heap[0]].high <= paint->at)
            pop(paint);
        if (!paint->heap_count) {
            if (paint->next == paint->count)
                return false;
            paint->at = (uint32_t)(paint->keys[paint->next] >> 32);
        }
        while (paint->next < paint->count && paint->keys[paint->next] >> 32 <= paint->at)
            push(paint, (uint32_t)paint->keys[paint->next++]);
        const struct paint_range *top = &paint->rows[paint->heap[0]];
        if (top->high <= paint->at)
            continue;
        uint32_t end = top->high;
        if (paint->next < paint->count && paint->keys[paint->next] >> 32 < end)
            end = (uint32_t)(paint->keys[paint->next] >> 32);
        *out = (struct paint_range){paint->at, end, top->rank, top->what};
        paint->at = end;
        return true;
    }
}

void paint_reset(struct paint *paint)
{
    paint->count = 0;
}

void paint_fini(struct paint *paint)
{
    free(paint->rows);
    free(paint->keys);
    free(paint->heap);
    *paint = (struct paint){0};
}
