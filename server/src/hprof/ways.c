/* ways.c - see ways.h. */
#include "hprof/ways.h"

#include <stdlib.h>

#define TABLE (1u << 19) /* more than twice WAYS_MAX */

uint32_t way_class(const struct heap *heap, const struct keeper *way)
{
    if (way->label < WAY_REASONS)
        return UINT32_MAX;
    uint32_t class = (way->label - WAY_REASONS) / 2;
    bool itself = (way->label - WAY_REASONS) % 2;
    return itself && heap->java_lang_class != UINT32_MAX ? heap->java_lang_class : class;
}

/* Where a way is in the table, or would be. */
static uint32_t slot_of(const struct ways *ways, uint32_t parent, uint32_t label)
{
    uint64_t hash = (parent * UINT64_C(0x9e3779b97f4a7c15)) ^ (label * UINT64_C(0xc2b2ae3d27d4eb4f));
    uint32_t at = (uint32_t)(hash >> 40) & (TABLE - 1);
    for (; ways->table[at]; at = (at + 1) & (TABLE - 1)) {
        const struct keeper *row = &ways->rows[ways->table[at] - 1];
        if (row->parent == parent && row->label == label)
            break;
    }
    return at;
}

static uint32_t find(struct ways *ways, uint32_t parent, uint32_t label, uint32_t most)
{
    uint32_t slot = slot_of(ways, parent, label);
    if (ways->table[slot])
        return ways->table[slot] - 1;
    if (ways->count >= most)
        return UINT32_MAX;
    ways->rows[ways->count] =
        (struct keeper){.parent = parent, .label = label, .depth = ways->count ? ways->rows[parent].depth + 1 : 0};
    ways->table[slot] = ++ways->count;
    return ways->count - 1;
}

/* Below a way; again below "several" where that is too deep, or there are too many. */
static uint32_t below(struct ways *ways, uint32_t parent, uint32_t label)
{
    uint32_t way = ways->rows[parent].depth < WAYS_DEPTH ? find(ways, parent, label, WAYS_MAX) : UINT32_MAX;
    if (way != UINT32_MAX)
        return way;
    parent = find(ways, 0, WAY_SEVERAL, UINT32_MAX);
    way = find(ways, parent, label, WAYS_MAX + WAYS_MAX / 4);
    return way == UINT32_MAX ? parent : way;
}

/* A class object is its static fields. */
static uint32_t label_of(const struct heap *heap, uint32_t object)
{
    uint32_t class = heap->class_of[object];
    if (class != heap->java_lang_class)
        return way_of_class(class, false);
    uint32_t itself = heap_find_class(heap, heap->ids[object]);
    return itself == UINT32_MAX ? way_of_class(class, false) : way_of_class(itself, true);
}

static void add(struct ways *ways, const struct heap *heap, uint32_t way, uint32_t object)
{
    ways->rows[way].count++;
    ways->rows[way].bytes += heap->bytes[object];
}

bool ways_make(struct ways *out, struct heap *heap, const struct dominators *dominators)
{
    uint32_t *way_of = spill_array(heap->spill, dominators->count + 1ull, sizeof *way_of);
    *out = (struct ways){.rows = calloc(WAYS_MAX + WAYS_MAX / 4 + 64, sizeof *out->rows),
                         .table = calloc(TABLE, sizeof *out->table)};
    if (!way_of || !out->rows || !out->table)
        return false;
    find(out, 0, UINT32_MAX, 1); /* the root */
    for (uint32_t v = 2; v <= dominators->count; v++, spill_relax(heap->spill)) {
        uint32_t node = dominators->node[v], above = dominators->dominator[v];
        uint32_t kind = heap->root_kind[node] ? heap->root_kind[node] - 1u : WAY_SEVERAL;
        uint32_t parent = above == 1 ? find(out, 0, kind, UINT32_MAX) : way_of[above];
        uint32_t label = label_of(heap, node - 1);
        way_of[v] = out->rows[parent].label == label ? parent : below(out, parent, label);
        add(out, heap, way_of[v], node - 1);
    }
    for (uint32_t object = 0; object < heap->count; object++, spill_relax(heap->spill))
        if (!dominators->number[object + 1ull])
            add(out, heap, below(out, find(out, 0, WAY_GARBAGE, UINT32_MAX), label_of(heap, object)), object);
    spill_drop(heap->spill, way_of);
    return true;
}

void ways_fini(struct ways *ways)
{
    free(ways->rows);
    free(ways->table);
}
