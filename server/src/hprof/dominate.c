/* dominate.c - see dominate.h. All arrays but the heap's are by the search's numbers, from 1; 0 is none. */
#include "hprof/dominate.h"

struct graph {
    struct heap *heap;
    struct spill *spill;
    uint32_t count;
    uint32_t *number; /* per node of the heap: 0 was not reached */
    uint32_t *node, *parent;
    uint64_t *cursor; /* per number: the next edge of the search */
    uint64_t *begin;  /* per number: of those that refer to it */
    uint32_t *from;
    uint32_t *semi, *ancestor, *label, *dominator, *bucket, *next, *stack;
};

/* The depth-first search. The stack is the way of parents. */
static bool search(struct graph *g)
{
    size_t nodes = g->heap->count + 1ull;
    g->number = spill_array(g->spill, nodes, sizeof *g->number);
    g->node = spill_array(g->spill, nodes + 1, sizeof *g->node);
    g->parent = spill_array(g->spill, nodes + 1, sizeof *g->parent);
    g->cursor = spill_array(g->spill, nodes + 1, sizeof *g->cursor);
    if (!g->number || !g->node || !g->parent || !g->cursor)
        return false;
    const uint64_t *start = g->heap->start;
    g->number[0] = g->count = 1;
    for (uint32_t at = 1; at; spill_relax(g->spill)) {
        uint32_t node = g->node[at];
        uint64_t edge = start[node] + g->cursor[at];
        if (edge == start[node + 1ull]) {
            at = g->parent[at];
            continue;
        }
        g->cursor[at]++;
        uint32_t to = g->heap->to[edge];
        if (g->number[to])
            continue;
        g->number[to] = ++g->count;
        g->node[g->count] = to;
        g->parent[g->count] = at;
        at = g->count;
    }
    spill_drop(g->spill, g->cursor);
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
    for (uint32_t v = 1; v <= g->count; v++, spill_relax(g->spill))
        for (uint64_t e = start[g->node[v]]; e < start[g->node[v] + 1ull]; e++)
            g->begin[g->number[to[e]]]++;
    for (uint32_t v = 1; v <= g->count + 1; v++, spill_relax(g->spill)) {
        uint64_t these = v <= g->count ? g->begin[v] : 0;
        g->begin[v] = sum;
        sum += these;
    }
    for (uint32_t v = 1; v <= g->count; v++, spill_relax(g->spill))
        for (uint64_t e = start[g->node[v]]; e < start[g->node[v] + 1ull]; e++)
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

/* The label with the least semidominator on the way up, which is made shorter. */
static uint32_t evaluate(struct graph *g, uint32_t v)
{
    uint32_t depth = 0;
    if (!g->ancestor[v])
        return v;
    for (uint32_t at = v; g->ancestor[g->ancestor[at]]; at = g->ancestor[at])
        g->stack[depth++] = at;
    while (depth > 0) {
        uint32_t at = g->stack[--depth], above = g->ancestor[at];
        if (g->semi[g->label[above]] < g->semi[g->label[at]])
            g->label[at] = g->label[above];
        g->ancestor[at] = g->ancestor[above];
        spill_relax(g->spill);
    }
    return g->label[v];
}

static void settle_bucket(struct graph *g, uint32_t parent)
{
    for (uint32_t v = g->bucket[parent], next; v; v = next) {
        uint32_t least = evaluate(g, v);
        next = g->next[v];
        g->dominator[v] = g->semi[least] < g->semi[v] ? least : parent;
    }
    g->bucket[parent] = 0;
}

static void find(struct graph *g)
{
    for (uint32_t v = 1; v <= g->count; v++, spill_relax(g->spill))
        g->semi[v] = g->label[v] = v;
    for (uint32_t w = g->count; w > 1; w--, spill_relax(g->spill)) {
        for (uint64_t e = g->begin[w]; e < g->begin[w + 1ull]; e++) {
            uint32_t least = evaluate(g, g->from[e]);
            if (g->semi[least] < g->semi[w])
                g->semi[w] = g->semi[least];
        }
        g->next[w] = g->bucket[g->semi[w]];
        g->bucket[g->semi[w]] = w;
        g->ancestor[w] = g->parent[w];
        settle_bucket(g, g->parent[w]);
    }
    for (uint32_t w = 2; w <= g->count; w++, spill_relax(g->spill))
        if (g->dominator[w] != g->semi[w])
            g->dominator[w] = g->dominator[g->dominator[w]];
}

bool dominate(struct dominators *out, struct heap *heap)
{
    struct graph g = {.heap = heap, .spill = heap->spill};
    if (!search(&g) || !turn(&g))
        return false;
    uint32_t **const arrays[] = {&g.semi, &g.ancestor, &g.label, &g.dominator, &g.bucket, &g.next, &g.stack};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = spill_array(g.spill, g.count + 1ull, sizeof **arrays[i])))
            return false;
    find(&g);
    void *const done[] = {g.semi, g.ancestor, g.label, g.bucket, g.next, g.stack, g.from, g.begin, g.parent};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        spill_drop(g.spill, done[i]);
    *out = (struct dominators){g.count, g.number, g.node, g.dominator};
    return true;
}
