/* pieces.c - see pieces.h. */
#include "report/pieces.h"

#include "base/alloc.h"
#include "platform/own.h"

#include <string.h>

#define LARGE_BYTES (64u << 10) /* blocks of so many are looked at, for most of their pages may never be touched */
#define ARENA_BYTES (64ull << 20)

struct region {
    uint64_t start, end;
    uint32_t kind;
    bool asked;
};

struct regions {
    struct region *list;
    uint32_t count, cap;
};

static bool on_region(void *context, const struct heap_live *live)
{
    struct regions *regions = context;

    if (regions->count == regions->cap)
        return false;
    regions->list[regions->count++] = (struct region){.start = live->address,
                                                      .end = live->address + live->size,
                                                      .kind = live->category - MIRE_CATEGORY_KINDS,
                                                      .asked = live->node != 0};
    return true;
}

static int by_start(const void *one, const void *other)
{
    const struct region *a = one, *b = other;

    return (a->start > b->start) - (a->start < b->start);
}

static enum mire_err gather_regions(struct regions *out, const struct heap_reader *reader)
{
    memset(out, 0, sizeof(*out));
    out->cap = MIRE_HEAP_MAPPINGS_MAX;
    out->list = mire__malloc(out->cap * sizeof(*out->list));
    if (!out->list)
        return MIRE_E_MEMORY;
    mire__read_mappings(reader, on_region, out);
    mire__own.qsort(out->list, out->count, sizeof(*out->list), by_start);
    return MIRE_OK;
}

static bool add(struct pieces *pieces, const struct area *area, uint64_t start, uint64_t end,
                const struct region *region)
{
    const struct residence *residence = &pieces->areas->residence;
    bool whole = start == area->start && end == area->end;
    uint64_t held = area->held_bytes;

    if (pieces->count == pieces->cap)
        return false;
    if (!whole && held > 0)
        held = mire__residence_held(residence, start, end - start, area->of == AREA_SHARED);
    pieces->list[pieces->count++] = (struct piece){.start = start,
                                                   .end = end,
                                                   .held_bytes = (double)held,
                                                   .of = area->of,
                                                   .kind = region ? region->kind : MIRE_PIECE_NONE,
                                                   .asked = region && region->asked};
    return true;
}

static bool cut(struct pieces *pieces, const struct area *area, const struct regions *regions, uint32_t *next)
{
    uint64_t at = area->start;

    while (*next < regions->count && regions->list[*next].end <= at)
        ++*next;
    for (uint32_t i = *next; i < regions->count && regions->list[i].start < area->end; i++) {
        const struct region *region = &regions->list[i];
        uint64_t end = region->end < area->end ? region->end : area->end;

        if (end <= at)
            continue;
        if (region->start > at && !add(pieces, area, at, region->start, NULL))
            return false;
        if (region->start > at)
            at = region->start;
        if (!add(pieces, area, at, end, region))
            return false;
        at = end;
    }
    return at == area->end || add(pieces, area, at, area->end, NULL);
}

enum mire_err mire__pieces_make(struct pieces *out, const struct areas *areas, const struct heap_reader *reader)
{
    struct regions regions;
    uint32_t next = 0;
    enum mire_err err;

    memset(out, 0, sizeof(*out));
    out->areas = areas;
    err = gather_regions(&regions, reader);
    if (err == MIRE_OK) {
        out->cap = areas->count + 2 * regions.count + 1;
        out->list = mire__malloc(out->cap * sizeof(*out->list));
        err = out->list ? MIRE_OK : MIRE_E_MEMORY;
    }
    for (uint32_t i = 0; err == MIRE_OK && i < areas->count; i++)
        if (!cut(out, &areas->list[i], &regions, &next))
            err = MIRE_E_MEMORY;
    mire__free(regions.list);
    return err;
}

void mire__pieces_fini(struct pieces *pieces)
{
    mire__free(pieces->list);
    pieces->list = NULL;
    pieces->count = pieces->cap = 0;
}

static bool is_in(const struct piece *piece, uint64_t address)
{
    return address >= piece->start && address < piece->end;
}

/* The piece of an address; NULL. Neighbours in the tables are neighbours in memory mostly. */
static struct piece *find(struct pieces *pieces, uint64_t address)
{
    uint32_t low = 0, high = pieces->count;

    if (pieces->last < pieces->count && is_in(&pieces->list[pieces->last], address))
        return &pieces->list[pieces->last];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (pieces->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    pieces->last = low;
    return low < pieces->count && is_in(&pieces->list[low], address) ? &pieces->list[low] : NULL;
}

uint64_t mire__pieces_add_block(struct pieces *pieces, const struct heap_live *block)
{
    struct piece *piece = find(pieces, block->address);
    uint64_t held = block->size;

    if (!piece)
        return 0; /* made after the look */
    if (held >= LARGE_BYTES && pieces->areas->residence.pagemap >= 0)
        held = mire__residence_held(&pieces->areas->residence, block->address, block->size, piece->of == AREA_SHARED);
    piece->block_bytes += (double)held / block->chance;
    return held;
}

/* glibc's arenas of other threads than the first begin at multiples of ARENA_BYTES. */
static bool is_arena(const struct piece *piece)
{
#ifdef __GLIBC__
    return piece->start % ARENA_BYTES == 0;
#else
    (void)piece;
    return false;
#endif
}

bool mire__piece_is_of_allocator(const struct piece *piece)
{
    if (piece->of == AREA_OWN)
        return false;
    if (piece->kind == MIRE_KIND_BRK || piece->kind == MIRE_KIND_ALLOCATOR || piece->of == AREA_HEAP)
        return true;
    if (piece->asked || piece->of != AREA_ANONYMOUS ||
        (piece->kind >= MIRE_KIND_TAGGED && piece->kind != MIRE_PIECE_NONE))
        return false;
    return piece->block_bytes > 0 || is_arena(piece);
}
