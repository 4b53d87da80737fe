/* memory.c - names, order, and the way from a category to its stacks. */
#include "model/memory.h"

#include "base/arena.h"
#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[MIRE_MEMORY_KIND_COUNT] = {"heap", "vm", "object", "part", "gauge"};
static const char *const reasons[MIRE_MEMORY_REASON_COUNT] = {"unknown", "bytes", "objects", "growth"};
static const char *const scopes[MIRE_HEALTHY_SCOPE_COUNT] = {"none", "version", "class", "app"};

static unsigned find(const char *const *names, unsigned count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *memory_kind_name(enum memory_kind kind)
{
    return kinds[kind];
}

enum memory_kind memory_kind_of(const char *name)
{
    return (enum memory_kind)find(kinds, MIRE_MEMORY_KIND_COUNT, name);
}

const char *memory_reason_name(enum memory_reason reason)
{
    return reasons[reason];
}

const char *healthy_scope_name(enum healthy_scope scope)
{
    return scopes[scope];
}

bool memory_is_of_allocator(const struct memory_category *category)
{
    return category->kind == MIRE_MEMORY_VM &&
           (!strcmp(category->name, "VM: allocator") || !strcmp(category->name, "VM: brk"));
}

bool memory_is_beside(const struct memory_category *category)
{
    return category->kind == MIRE_MEMORY_GAUGE || memory_is_of_allocator(category);
}

uint64_t memory_stack_held(const struct memory_category *category, const struct memory_stack *stack)
{
    if (category->held_bytes >= category->live_bytes)
        return stack->bytes;
    double held = (double)stack->bytes * ((double)category->held_bytes / (double)category->live_bytes);
    return held < (double)stack->bytes ? (uint64_t)held : stack->bytes;
}

/* Index of the first stack whose category is not below this one. */
static size_t first_from(const struct memory *memory, size_t category)
{
    size_t low = 0, high = memory->stack_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->stacks[middle].category < category)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory_stacks memory_stacks_of(const struct memory *memory, size_t category)
{
    size_t first = first_from(memory, category);
    return (struct memory_stacks){first, first_from(memory, category + 1) - first};
}

struct placed { /* a category and its old position */
    struct memory_category category;
    uint32_t was;
};

static int by_held(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->category.held_bytes != y->category.held_bytes)
        return x->category.held_bytes > y->category.held_bytes ? -1 : 1;
    int order = strcmp(x->category.name, y->category.name);
    return order ? order : (x->was > y->was) - (x->was < y->was);
}

static int by_category(const void *a, const void *b)
{
    const struct memory_stack *x = a, *y = b;
    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

int memory_arrange(struct memory *memory, struct arena *arena)
{
    size_t count = memory->category_count;
    struct placed *placed = arena_array(arena, count, sizeof *placed);
    struct memory_category *categories = arena_array(arena, count, sizeof *categories);
    uint32_t *now = arena_array(arena, count, sizeof *now);

    struct memory_stack *stacks = arena_array(arena, memory->stack_count, sizeof *stacks);
    if (!placed || !categories || !now || !stacks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        placed[i] = (struct placed){memory->categories[i], (uint32_t)i};
    if (count)
        qsort(placed, count, sizeof *placed, by_held);
    for (size_t i = 0; i < count; i++) {
        categories[i] = placed[i].category;
        now[placed[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; i < memory->stack_count; i++) {
        stacks[i] = memory->stacks[i];
        stacks[i].category = now[stacks[i].category];
    }
    if (memory->stack_count)
        qsort(stacks, memory->stack_count, sizeof *stacks, by_category);
    memory->categories = categories;
    memory->stacks = stacks;
    return 0;
}
