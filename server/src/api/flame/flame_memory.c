/* flame_memory.c - merges the stacks that allocated the memory of processes. */
#include "api/flame/flame.h"

#include <stdlib.h>
#include <string.h>

#include "api/flame/flame_tree.h"

static void add_stacks(struct flame *flame, const uint32_t *map, const struct memory *memory,
                       struct memory_stacks range, enum flame_of of, double weight)
{
    for (size_t i = range.first; i < range.first + range.count; i++) {
        const struct memory_stack *stack = &memory->stacks[i];
        uint64_t much =
            of == FLAME_OF_OBJECTS ? stack->count : memory_stack_held(&memory->categories[stack->category], stack);
        flame->frames[map[stack->node]].self += (double)much * weight;
    }
}

static void use(unsigned char *used, const struct resolved *doc, struct memory_stacks range)
{
    for (size_t i = range.first; i < range.first + range.count; i++)
        for (uint32_t n = doc->memory.stacks[i].node; n != 0 && !used[n]; n = doc->nodes[n].parent)
            used[n] = 1;
}

int flame_add_memory(struct flame *flame, const struct resolved *doc, enum flame_of of, const char *category,
                     double weight)
{
    const struct memory *memory = &doc->memory;
    uint32_t *map = calloc(doc->node_count, sizeof *map);
    unsigned char *used = calloc(doc->node_count, 1);
    int rc = -1;

    if (!map || !used)
        goto free_all;
    rc = FLAME_FULL;
    if (flame->count + doc->node_count + 1 > flame->max)
        goto free_all;
    for (size_t c = 0; c < memory->category_count; c++)
        if (!category || !strcmp(memory->categories[c].name, category))
            use(used, doc, memory_stacks_of(memory, c));
    rc = flame_add_nodes(flame, map, used, doc);
    for (size_t c = 0; !rc && c < memory->category_count; c++)
        if (!category || !strcmp(memory->categories[c].name, category))
            add_stacks(flame, map, memory, memory_stacks_of(memory, c), of, weight);
free_all:
    free(used);
    free(map);
    return rc;
}

void flame_scale(struct flame *flame, double by)
{
    for (size_t i = 0; i < flame->count; i++)
        flame->frames[i].self *= by;
}
