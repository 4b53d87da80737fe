/*
 * tree.c - works on the trie, not on its stacks: every node is visited once, whatever the number of its samples.
 */
#include "feature/tree.h"

#include "base/fault.h"
#include "base/hash.h"

#include <string.h>

#define JOINED_MAX 256  /* stacks without an outer end that are joined: as many as the device keeps */
#define DEPTH_MAX  1024 /* frames of a stack that are searched for the outermost one: a hostile report stays cheap */

int tree_functions(uint32_t **out, struct arena *arena, const struct resolved *doc, const struct name *names)
{
    size_t room = 16;
    while (room < doc->location_count * 2)
        room *= 2;
    uint32_t *numbers = arena_array(arena, doc->location_count, sizeof *numbers);
    uint32_t *slots = arena_array(arena, room, sizeof *slots); /* place + 1 */
    if (!numbers || !slots)
        return MIRE_FAULT_MEMORY;
    for (size_t p = 0; p < doc->location_count; p++) {
        const char *image = doc->locations[p].image;
        size_t at = hash_for_table(hash_for_table(0, names[p].key), image) & (room - 1);
        while (slots[at] &&
               (names[slots[at] - 1].made != names[p].made || strcmp(names[slots[at] - 1].key, names[p].key) != 0 ||
                strcmp(doc->locations[slots[at] - 1].image, image) != 0))
            at = (at + 1) & (room - 1);
        if (!slots[at])
            slots[at] = (uint32_t)p + 1;
        numbers[p] = slots[at] - 1;
    }
    *out = numbers;
    return 0;
}

struct tree_walker {
    const struct resolved *doc;
    const uint32_t *functions;
    uint64_t *below;   /* per node: its time and the time below it */
    uint32_t *parent;  /* per node; of stacks without an outer end where they were joined */
    uint32_t *child;   /* per node: first child, 0 none */
    uint32_t *sibling; /* per node: next child of its parent */
    uint64_t *weight;  /* per function, valid if stamped with this level */
    uint32_t *stamp;   /* per function */
    uint32_t *level;   /* nodes of the path's functions on this level */
    uint32_t *deeper;  /* the same on the next level */
    struct tree_step *steps;
};

static int walk_init(struct tree_walker *walk, struct arena *arena)
{
    size_t nodes = walk->doc->node_count;
    size_t locations = walk->doc->location_count;
    walk->below = arena_array(arena, nodes, sizeof *walk->below);
    walk->parent = arena_array(arena, nodes, sizeof *walk->parent);
    walk->child = arena_array(arena, nodes, sizeof *walk->child);
    walk->sibling = arena_array(arena, nodes, sizeof *walk->sibling);
    walk->weight = arena_array(arena, locations, sizeof *walk->weight);
    walk->stamp = arena_array(arena, locations, sizeof *walk->stamp);
    walk->level = arena_array(arena, nodes, sizeof *walk->level);
    walk->deeper = arena_array(arena, nodes, sizeof *walk->deeper);
    walk->steps = arena_array(arena, nodes, sizeof *walk->steps);
    bool good = walk->below && walk->parent && walk->child && walk->sibling && walk->weight && walk->stamp &&
                walk->level && walk->deeper && walk->steps;
    return good ? 0 : MIRE_FAULT_MEMORY;
}

uint32_t tree_heaviest_thread(const struct resolved *doc)
{
    uint32_t heaviest = 0;
    uint64_t most = 0;
    for (uint32_t thread = 0; thread <= doc->thread_count; thread++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < doc->sample_count; i++)
            sum += doc->samples[i].thread == thread ? doc->samples[i].weight_ms + 1ull : 0;
        if (sum > most) {
            most = sum;
            heaviest = thread;
        }
    }
    return heaviest;
}

static bool is_asked(const struct resolved *doc, size_t sample, const struct tree_walk *how)
{
    return how->thread == MIRE_TREE_ALL || doc->samples[sample].thread == how->thread;
}

static uint32_t function_of(const struct tree_walker *walk, uint32_t node)
{
    return walk->functions[walk->doc->nodes[node].location];
}

static bool is_partial(const struct report_sample *sample)
{
    return sample->node && sample->loss == MIRE_LOSS_PARTIAL;
}

/* The outermost node of a stack; 0 if it is deeper than anybody looks. */
static uint32_t outermost(const struct tree_walker *walk, uint32_t node)
{
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        if (!walk->doc->nodes[node].parent)
            return node;
        node = walk->doc->nodes[node].parent;
    }
    return 0;
}

/* The node of a whole stack with that function and the most time; of equals the outermost. 0: there is none. */
static uint32_t find_shared(const struct tree_walker *walk, uint32_t function, const uint64_t *whole)
{
    uint32_t best = 0;
    for (uint32_t n = 1; n < walk->doc->node_count; n++)
        if (whole[n] && function_of(walk, n) == function && (!best || whole[n] > whole[best]))
            best = n;
    return best;
}

/*
 * A stack without its outer end begins in the middle of the others: its outermost function is put where whole stacks
 * have it.
 */
static void join_partial(struct tree_walker *walk, uint64_t *whole)
{
    const struct resolved *doc = walk->doc;
    unsigned joined = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        if (doc->samples[i].node && !is_partial(&doc->samples[i]))
            whole[doc->samples[i].node] += doc->samples[i].weight_ms + 1ull;
    for (size_t n = doc->node_count - 1; n > 0; n--)
        whole[doc->nodes[n].parent] += whole[n];
    for (size_t i = 0; i < doc->sample_count && joined < JOINED_MAX; i++) {
        uint32_t top = is_partial(&doc->samples[i]) ? outermost(walk, doc->samples[i].node) : 0;
        uint32_t shared =
            top && !whole[top] && !walk->parent[top] ? find_shared(walk, function_of(walk, top), whole) : 0;
        joined += shared != 0;
        if (shared)
            walk->parent[top] = doc->nodes[shared].parent;
    }
}

/* Add the time of the stacks that were joined to the nodes outside them. */
static void add_joined(struct tree_walker *walk)
{
    for (size_t n = 1; n < walk->doc->node_count; n++) {
        if (walk->parent[n] == walk->doc->nodes[n].parent)
            continue;
        for (uint32_t up = walk->parent[n]; up; up = walk->doc->nodes[up].parent)
            walk->below[up] += walk->below[n];
    }
}

/* Time of every node, and the children's lists; of node 0 that of the stacks. The sums go to the path. */
static void weigh(struct tree_path *out, struct tree_walker *walk, const struct tree_walk *how)
{
    const struct resolved *doc = walk->doc;
    uint64_t sum = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        sum += doc->samples[i].weight_ms;
    for (size_t i = 0; i < doc->sample_count; i++) {
        if (!is_asked(doc, i, how))
            continue;
        uint64_t weight = sum ? doc->samples[i].weight_ms : 1;
        out->all += weight;
        if (!how->left_out || !how->left_out[i])
            walk->below[doc->samples[i].node] += weight;
    }
    out->without = walk->below[0];
    walk->below[0] = 0;
    if (!doc->sample_count && doc->hot.node)
        out->all = walk->below[doc->hot.node] = 1;
    for (size_t n = doc->node_count - 1; n > 0; n--) {
        uint32_t parent = walk->parent[n];
        walk->below[doc->nodes[n].parent] += walk->below[n];
        walk->sibling[n] = walk->child[parent];
        walk->child[parent] = (uint32_t)n;
    }
    add_joined(walk);
    out->total = walk->below[0];
}

/* Collect in `deeper` all children of the level's nodes, whose function is `caller`. Returns their number, and the
 * heaviest function among them. */
static size_t children(struct tree_walker *walk, size_t count, uint32_t caller, uint32_t stamp, uint32_t *best_out)
{
    size_t found = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t n = walk->child[walk->level[i]]; n; n = walk->sibling[n]) {
            uint32_t f = function_of(walk, n);
            if (f == caller)
                continue; /* on the level itself */
            if (walk->stamp[f] != stamp) {
                walk->stamp[f] = stamp;
                walk->weight[f] = 0;
            }
            walk->weight[f] += walk->below[n];
            walk->deeper[found++] = n;
        }
    }
    for (size_t i = 0; i < found; i++) {
        uint32_t f = function_of(walk, walk->deeper[i]);
        if (walk->weight[f] > most || (walk->weight[f] == most && most && f < *best_out)) {
            most = walk->weight[f];
            *best_out = f;
        }
    }
    return most ? found : 0;
}

/* Keep the nodes of one function; returns their number, and the index of the heaviest. */
static size_t keep(struct tree_walker *walk, size_t count, uint32_t function, uint32_t *location_out)
{
    size_t kept = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t n = walk->deeper[i];
        if (function_of(walk, n) != function)
            continue;
        walk->level[kept++] = n;
        if (walk->below[n] > most) {
            most = walk->below[n];
            *location_out = walk->doc->nodes[n].location;
        }
    }
    return kept;
}

/* A function that calls itself is one step: nodes of the same function below the level join it. */
static size_t join_recursion(struct tree_walker *walk, size_t count, uint32_t function)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = walk->child[walk->level[i]]; n; n = walk->sibling[n])
            if (function_of(walk, n) == function)
                walk->level[count++] = n;
    return count;
}

int tree_path(struct tree_path *out, struct arena *arena, const struct resolved *doc, const struct tree_walk *how)
{
    struct tree_walker walk = {.doc = doc, .functions = how->functions};
    *out = (struct tree_path){0};
    int rc = walk_init(&walk, arena);
    if (rc)
        return rc;
    uint64_t *whole = arena_array(arena, doc->node_count, sizeof *whole);
    if (!whole)
        return MIRE_FAULT_MEMORY;
    for (size_t n = 0; n < doc->node_count; n++)
        walk.parent[n] = doc->nodes[n].parent;
    join_partial(&walk, whole);
    weigh(out, &walk, how);
    out->steps = walk.steps;
    uint64_t parent = out->total, counted = out->total + out->without;
    size_t count = 1; /* level[0] is the root */
    uint32_t caller = UINT32_MAX;
    for (uint32_t stamp = 1;; stamp++) {
        uint32_t best = 0;
        uint32_t location = 0;
        size_t found = children(&walk, count, caller, stamp, &best);
        if (!found)
            return 0;
        count = keep(&walk, found, best, &location);
        out->next = (struct tree_step){location, walk.weight[best]};
        if (walk.weight[best] * 100 < parent * how->percent || walk.weight[best] * 100 < counted * how->least)
            return 0;
        out->next.weight = 0;
        parent = walk.weight[best];
        walk.steps[out->count++] = (struct tree_step){location, walk.weight[best]};
        count = join_recursion(&walk, count, best);
        caller = best;
    }
}
