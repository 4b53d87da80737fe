/*
 * spans.c - sorted by beginning; `reach` tells a backward scan when nothing further back can hold the address.
 */
#include "symbols/spans.h"

#include <stdlib.h>

bool spans_add(struct spans *spans, uint64_t low, uint64_t high, uint64_t key)
{
    if (low >= high)
        return true;
    if (spans->count == spans->room) {
        size_t room = spans->room ? spans->room * 2 : 64;
        struct span *rows = reallocarray(spans->rows, room, sizeof *rows);
        if (!rows)
            return false;
        spans->rows = rows;
        spans->room = room;
    }
    spans->rows[spans->count++] = (struct span){low, high, key, 0};
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->key > y->key) - (x->key < y->key);
}

void spans_seal(struct spans *spans)
{
    uint64_t reach = 0;
    if (spans->count)
        qsort(spans->rows, spans->count, sizeof *spans->rows, compare);
    for (size_t i = 0; i < spans->count; i++) {
        reach = spans->rows[i].high > reach ? spans->rows[i].high : reach;
        spans->rows[i].reach = reach;
    }
}

const struct span *spans_find(const struct spans *spans, uint64_t address, uint64_t least_key)
{
    size_t low = 0;
    size_t high = spans->count;
    while (low < high) { /* the first that begins behind the address */
        size_t middle = low + (high - low) / 2;
        if (spans->rows[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct span *found = NULL;
    for (size_t i = low; i-- > 0 && spans->rows[i].reach > address;) {
        const struct span *span = &spans->rows[i];
        if (span->high > address && span->key >= least_key && (!found || span->key < found->key))
            found = span;
    }
    return found;
}

void spans_fini(struct spans *spans)
{
    free(spans->rows);
    *spans = (struct spans){0};
}
