/* Stored cells and deltas: a second write of a cell is equal, and two can be merged and asked. The first byte chooses. */
#include "rollup/cell.h"
#include "rollup/delta.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_cell(struct arena *arena, const uint8_t *data, size_t size)
{
    struct cell cell, twice;
    unsigned char *bytes, *again;
    size_t len, len_again;

    if (cell_decode(&cell, arena, data, size))
        return;
    if (cell_encode(&bytes, &len, arena, &cell) || cell_decode(&twice, arena, bytes, len) ||
        cell_encode(&again, &len_again, arena, &twice) || len != len_again || memcmp(bytes, again, len) != 0)
        abort();
    (void)cell_merge(&twice, arena, &cell);
    (void)distinct_count(&twice.all.devices);
    (void)sketch_quantile(&twice.all.lengths, twice.all.reports, 95);
}

static void try_delta(struct arena *arena, const uint8_t *data, size_t size)
{
    struct delta_entry *entries;
    unsigned char *bytes;
    size_t count, len;
    struct cell cell;

    if (delta_decode(&entries, &count, arena, data, size))
        return;
    if (delta_encode(&bytes, &len, arena, entries, count))
        abort();
    memset(&cell, 0, sizeof cell);
    for (size_t i = 0; i < count; i++)
        (void)cell_add(&cell, arena, &entries[i].event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 256u << 20);
    if (size && *data & 1)
        try_delta(&arena, data + 1, size - 1);
    else if (size)
        try_cell(&arena, data + 1, size - 1);
    arena_fini(&arena);
    return 0;
}
