/* sketch.c - bins sorted by number; a sketch of one category has a handful. */
#include "model/sketch.h"

#include "base/fault.h"

#include <string.h>

#define EXACT 32 /* below, every value is a bin */
#define PARTS 16 /* bins of a doubling */

uint32_t sketch_bin_of(uint64_t value)
{
    if (value < EXACT)
        return (uint32_t)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    return EXACT + (top - 5) * PARTS + (uint32_t)(value >> (top - 4) & (PARTS - 1));
}

uint64_t sketch_bin_value(uint32_t bin)
{
    if (bin < EXACT)
        return bin;
    unsigned top = (bin - EXACT) / PARTS + 5;
    uint64_t width = 1ull << (top - 4);
    return (1ull << top) + (bin - EXACT) % PARTS * width + width / 2;
}

static int add_bin(struct sketch *sketch, struct arena *arena, uint32_t bin, uint64_t weight)
{
    size_t at = 0;

    while (at < sketch->count && sketch->bins[at].bin < bin)
        at++;
    if (at < sketch->count && sketch->bins[at].bin == bin) {
        sketch->bins[at].weight += weight;
        return 0;
    }
    if (sketch->count == sketch->room) {
        size_t room = sketch->room ? sketch->room * 2 : 4;
        struct sketch_bin *bins = arena_array(arena, room, sizeof *bins);
        if (!bins)
            return MIRE_FAULT_MEMORY;
        if (sketch->count)
            memcpy(bins, sketch->bins, sketch->count * sizeof *bins);
        sketch->bins = bins;
        sketch->room = room;
    }
    memmove(&sketch->bins[at + 1], &sketch->bins[at], (sketch->count - at) * sizeof *sketch->bins);
    sketch->bins[at] = (struct sketch_bin){bin, weight};
    sketch->count++;
    return 0;
}

int sketch_add(struct sketch *sketch, struct arena *arena, uint64_t value, uint64_t weight)
{
    return weight ? add_bin(sketch, arena, sketch_bin_of(value), weight) : 0;
}

int sketch_merge(struct sketch *sketch, struct arena *arena, const struct sketch *more)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < more->count; i++)
        rc = add_bin(sketch, arena, more->bins[i].bin, more->bins[i].weight);
    return rc;
}

void sketch_take(struct sketch *sketch, const struct sketch *less)
{
    size_t kept = 0;

    for (size_t i = 0, at = 0; i < sketch->count; i++) {
        struct sketch_bin bin = sketch->bins[i];
        while (at < less->count && less->bins[at].bin < bin.bin)
            at++;
        uint64_t taken = at < less->count && less->bins[at].bin == bin.bin ? less->bins[at].weight : 0;
        bin.weight -= taken < bin.weight ? taken : bin.weight;
        if (bin.weight)
            sketch->bins[kept++] = bin;
    }
    sketch->count = kept;
}

uint64_t sketch_quantile(const struct sketch *sketch, uint64_t all, unsigned percent)
{
    uint64_t added = 0;

    for (size_t i = 0; i < sketch->count; i++)
        added += sketch->bins[i].weight;
    if (all < added)
        all = added;
    uint64_t seen = all - added; /* zeros */
    if (seen && (double)seen * 100 >= (double)all * percent)
        return 0;
    for (size_t i = 0; i < sketch->count; i++) {
        seen += sketch->bins[i].weight;
        if ((double)seen * 100 >= (double)all * percent)
            return sketch_bin_value(sketch->bins[i].bin);
    }

    return 0;
}
