/* population.c - categories sorted, so that two populations are merged like two lists. */
#include "model/population.h"

#include "base/fault.h"
#include "base/text.h"

#include <string.h>

void population_init(struct population *population, struct arena *arena)
{
    *population = (struct population){.arena = arena};
}

static int compare(enum memory_kind kind, const char *name, const struct population_category *category)
{
    if (kind != category->kind)
        return kind < category->kind ? -1 : 1;
    return strcmp(name, category->name);
}

/* Position of the first category that is not before this one. */
static size_t place_of(const struct population *population, enum memory_kind kind, const char *name)
{
    size_t low = 0, high = population->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(kind, name, &population->categories[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct population_category *population_find(const struct population *population, enum memory_kind kind,
                                                  const char *name)
{
    size_t at = place_of(population, kind, name);
    bool found = at < population->count && compare(kind, name, &population->categories[at]) == 0;
    return found ? &population->categories[at] : NULL;
}

static int widen(struct population *population)
{
    if (population->count < population->room)
        return 0;
    size_t room = population->room ? population->room * 2 : 64;
    struct population_category *categories = arena_array(population->arena, room, sizeof *categories);
    if (!categories)
        return MIRE_FAULT_MEMORY;
    if (population->count)
        memcpy(categories, population->categories, population->count * sizeof *categories);
    population->categories = categories;
    population->room = room;
    return 0;
}

/* The bytes of a name that are kept, never half a character. */
static size_t kept_length(const char *name)
{
    return text_cut(name, strnlen(name, MIRE_POPULATION_NAME_MAX + 1), MIRE_POPULATION_NAME_MAX);
}

/* Find or insert a category; *out is NULL when there is no room. */
static int category_of(struct population_category **out, struct population *population, enum memory_kind kind,
                       const char *text)
{
    char name[MIRE_POPULATION_NAME_MAX + 1] = {0};

    memcpy(name, text, kept_length(text));
    size_t at = place_of(population, kind, name);
    *out = NULL;
    if (at == population->count || compare(kind, name, &population->categories[at]) != 0) {
        if (population->count == MIRE_POPULATION_CATEGORIES)
            return 0;
        char *copy = arena_strdup(population->arena, name);
        if (!copy || widen(population))
            return MIRE_FAULT_MEMORY;
        struct population_category *location = &population->categories[at];
        memmove(location + 1, location, (population->count - at) * sizeof *location);
        *location = (struct population_category){.name = copy, .kind = kind};
        population->count++;
    }
    *out = &population->categories[at];
    return 0;
}

int population_add(struct population *population, const struct memory *memory, uint64_t weight)
{
    struct arena *arena = population->arena;
    int rc = 0;

    population->reports++;
    population->weight += weight;
    if (memory->footprint_bytes.known)
        rc = sketch_add(&population->footprint, arena, memory->footprint_bytes.value, weight);
    if (!rc)
        rc = sketch_add(&population->held, arena, memory->held_bytes, weight);
    for (size_t i = 0; !rc && i < memory->category_count; i++) {
        const struct memory_category *from = &memory->categories[i];
        struct population_category *to;
        rc = category_of(&to, population, from->kind, from->name);
        if (rc || !to)
            continue;
        to->suspects += memory->found && memory->found[i].reason ? weight : 0;
        rc = sketch_add(&to->bytes, arena, from->held_bytes, weight);
        if (!rc)
            rc = sketch_add(&to->objects, arena, from->live_count, weight);
    }

    return rc;
}

int population_merge(struct population *population, const struct population *more)
{
    struct arena *arena = population->arena;

    int rc = sketch_merge(&population->footprint, arena, &more->footprint);
    if (!rc)
        rc = sketch_merge(&population->held, arena, &more->held);
    population->reports += more->reports;
    population->weight += more->weight;
    for (size_t i = 0; !rc && i < more->count; i++) {
        const struct population_category *from = &more->categories[i];
        struct population_category *to;
        rc = category_of(&to, population, from->kind, from->name);
        if (rc || !to)
            continue;
        to->suspects += from->suspects;
        rc = sketch_merge(&to->bytes, arena, &from->bytes);
        if (!rc)
            rc = sketch_merge(&to->objects, arena, &from->objects);
    }

    return rc;
}

static uint64_t less_by(uint64_t value, uint64_t taken)
{
    return value > taken ? value - taken : 0;
}

void population_take(struct population *population, const struct population *less)
{
    size_t kept = 0;

    population->reports = less_by(population->reports, less->reports);
    population->weight = less_by(population->weight, less->weight);
    sketch_take(&population->footprint, &less->footprint);
    sketch_take(&population->held, &less->held);
    for (size_t i = 0; i < population->count; i++) {
        struct population_category category = population->categories[i];
        const struct population_category *taken = population_find(less, category.kind, category.name);
        if (taken) {
            category.suspects = less_by(category.suspects, taken->suspects);
            sketch_take(&category.bytes, &taken->bytes);
            sketch_take(&category.objects, &taken->objects);
        }
        if (category.suspects || category.bytes.count || category.objects.count)
            population->categories[kept++] = category;
    }

    population->count = kept;
}
