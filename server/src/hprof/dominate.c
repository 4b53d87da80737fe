/*
 * dominate.c - see dominate.h. All arrays but the heap's are by the search's numbers, from 1; 0 is none.
 *
 * Semidominators come by ways that are made shorter, immediate dominators by the nearest common ancestor: of all arrays
 * only `link` is met in any order while that goes on (8 bytes an object), all others from one end to the other.
 */
#include "hprof/dominate.h"

struct link {                 /* of a number above the last one that was linked */
    uint32_t ancestor, least; /* the least semidominator between it and the ancestor, that one left out */
};

struct graph {
    struct heap *heap;
    struct spill *spill;
    uint32_t count;
    uint32_t *number; /* per node of the heap: 0 was not reached */
    uint32_t *node, *parent;
    uint64_t *begin; /* per number: of those that refer to it */
    uint32_t *from;
    struct link *link;
    uint32_t *semi, *dominator, *stack;
};

/* The depth-first search. The stack is the way of parents; cursors of its nodes are by their depth. */
static bool search(struct graph *g)
{
    size_t nodes = g->heap->count + 1ull, depth = 0;
    g->number = spill_array(g->spill, nodes, sizeof *g->number);
    g->node = spill_array(g->spill, nodes + 1, sizeof *g->node);
    g->parent = spill_array(g->spill, nodes + 1, sizeof *g->parent);
    uint64_t *cursor = spill_array(g->spill, nodes + 1, sizeof *cursor);
    if (!g->number || !g->node || !g->parent || !cursor)
        return false;
    const uint64_t *start = g->heap->start;
    g->number[0] = g->count = 1;
    cursor[0] = start[0];
    for (uint32_t at = 1; at; spill_relax(g->spill)) {
        uint64_t edge = cursor[depth];
        if (edge == start[g->node[at] + 1ull]) {
            at = g->parent[at];
            depth -= at != 0;
            continue;
        }
        cursor[depth]++;
        uint32_t to = g->heap->to[edge];
        if (g->number[to])
            continue;
        g->number[to] = ++g->count;
        g->node[g->count] = to;
        g->parent[g->count] = at;
        at = g->count;
        cursor[++depth] = start[to];
    }
    spill_drop(g->spill, cursor);
    return true;
}

/* The edges the other way round. */
static bool turn(struct graph *g)
{
    const uint64_t *start = g->heap->start;
    const uint32_t *to = g->heap->to;
    uint64_t sum = 0;
    g->begin = spill_array(g->spill, g->count + 2ull, sizeof *g->begin);
    g->from = spill_array(g->spill, start[g->heap->count + 1ull], sizeof *g->from);
    if (!g->begin || !g->from)
        return false;
    for (uint32_t v = 1; v <= g->count; v++)
        for (uint64_t e = start[g->node[v]]; e < start[g->node[v] + 1ull]; e++, spill_relax(g->spill))
            g->begin[g->number[to[e]]]++;
    for (uint32_t v = 1; v <= g->count + 1; v++, spill_relax(g->spill)) {
        uint64_t these = v <= g->count ? g->begin[v] : 0;
        g->begin[v] = sum;
        sum += these;
    }
    for (uint32_t v = 1; v <= g->count; v++)
        for (uint64_t e = start[g->node[v]]; e < start[g->node[v] + 1ull]; e++, spill_relax(g->spill))
            g->from[g->begin[g->number[to[e]]]++] = v;
    for (uint32_t v = g->count + 1; v > 1; v--, spill_relax(g->spill))
        g->begin[v] = g->begin[v - 1];
    g->begin[1] = 0;
    spill_drop(g->spill, g->heap->to);
    spill_drop(g->spill, g->heap->start);
    g->heap->to = NULL;
    g->heap->start = NULL;
    return true;
}

/* The least semidominator on the way from v up, as far as numbers are linked: from `last` on. The way is made shorter. */
static uint32_t evaluate(struct graph *g, uint32_t v, uint32_t last)
{
    uint32_t depth = 0;
    for (; g->link[v].ancestor >= last; v = g->link[v].ancestor, spill_relax(g->spill))
        g->stack[depth++] = v;
    uint32_t ancestor = g->link[v].ancestor, least = g->link[v].least;
    for (; depth > 0; spill_relax(g->spill)) {
        struct link *link = &g->link[g->stack[--depth]];
        least = link->least < least ? link->least : least;
        *link = (struct link){ancestor, least};
    }
    return least;
}

static void find(struct graph *g)
{
    for (uint32_t w = g->count; w > 1; w--) {
        uint32_t semi = g->parent[w];
        for (uint64_t e = g->begin[w]; e < g->begin[w + 1ull]; e++, spill_relax(g->spill)) {
            uint32_t from = g->from[e], least = from > w ? evaluate(g, from, w + 1) : from;
            semi = least < semi ? least : semi;
        }
        g->semi[w] = semi;
        g->link[w] = (struct link){g->parent[w], semi};
        spill_relax(g->spill);
    }
    for (uint32_t w = 2; w <= g->count; w++, spill_relax(g->spill)) {
        uint32_t dominator = g->parent[w];
        for (; dominator > g->semi[w]; spill_relax(g->spill))
            dominator = g->dominator[dominator];
        g->dominator[w] = dominator;
    }
}

bool dominate(struct dominators *out, struct heap *heap)
{
    struct graph g = {.heap = heap, .spill = heap->spill};
    if (!search(&g) || !turn(&g))
        return false;
    uint32_t **const arrays[] = {&g.semi, &g.dominator, &g.stack};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = spill_array(g.spill, g.count + 1ull, sizeof **arrays[i])))
            return false;
    g.link = spill_array(g.spill, g.count + 1ull, sizeof *g.link);
    if (!g.link)
        return false;
    find(&g);
    void *const done[] = {g.semi, g.link, g.stack, g.from, g.begin, g.parent};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        spill_drop(g.spill, done[i]);
    *out = (struct dominators){g.count, g.number, g.node, g.dominator};
    return true;
}
