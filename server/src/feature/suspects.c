/* suspects.c - every category by the matching rule, then an order of the suspects. */
#include "feature/suspects.h"

#include "feature/pattern.h"

#include "base/fault.h"
#include "feature/suspect_rules.h"

#include <stdlib.h>
#include <string.h>

static const struct suspect_rule *rule_of(const struct suspect_rules *rules, const struct memory_category *category)
{
    for (; rules; rules = rules->next)
        for (size_t i = 0; i < rules->count; i++)
            if ((rules->rows[i].kind == MIRE_MEMORY_KIND_COUNT || rules->rows[i].kind == category->kind) &&
                glob_match(rules->rows[i].name, category->name))
                return &rules->rows[i];
    return NULL;
}

/* Is a value so many times the median? Of a median nobody knows it is. */
static bool is_times(uint64_t value, struct fact healthy, const struct suspect_rule *rule)
{
    return !rule->times.known || !healthy.known || (double)value >= (double)healthy.value * (double)rule->times.value;
}

static bool is_share(uint64_t bytes, uint64_t all, const struct suspect_rule *rule)
{
    return !rule->share.known || (double)bytes * 100 >= (double)all * (double)rule->share.value;
}

static enum memory_reason judge(const struct memory_category *category, const struct memory_found *found,
                                const struct suspect_rule *rule, uint64_t all)
{
    bool wide = is_times(category->held_bytes, found->healthy_bytes, rule) && is_share(category->held_bytes, all, rule);
    bool big = wide && rule->bytes.known && category->held_bytes >= rule->bytes.value;
    bool many = rule->objects.known && category->live_count >= rule->objects.value &&
                is_times(category->live_count, found->healthy_count, rule);
    bool grows = wide && rule->grown.known && category->grown.known && category->grown.bytes > 0 &&
                 (uint64_t)category->grown.bytes >= rule->grown.value;

    if (many && (category->kind == MIRE_MEMORY_OBJECT || !big))
        return MIRE_MEMORY_TOO_MANY_OBJECTS;
    if (big)
        return MIRE_MEMORY_TOO_MANY_BYTES;
    return grows ? MIRE_MEMORY_GROWS : MIRE_MEMORY_NOT_SUSPECT;
}

struct ranked_suspect {
    uint32_t category;
    bool known; /* are its stacks known? */
    uint64_t beyond, bytes, count;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked_suspect *x = a, *y = b;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (x->beyond != y->beyond)
        return x->beyond > y->beyond ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->category < y->category ? -1 : x->category > y->category;
}

static int rank(struct memory_found *found, struct arena *arena, const struct memory *memory)
{
    struct ranked_suspect *ranked = arena_array(arena, memory->category_count, sizeof *ranked);
    size_t count = 0;
    if (!ranked)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < memory->category_count; i++) {
        uint64_t bytes = memory->categories[i].held_bytes, healthy = found[i].healthy_bytes.value;
        if (found[i].reason)
            ranked[count++] =
                (struct ranked_suspect){(uint32_t)i, memory_stacks_of(memory, i).count > 0,
                                        bytes > healthy ? bytes - healthy : 0, bytes, memory->categories[i].live_count};
    }
    if (count)
        qsort(ranked, count, sizeof *ranked, by_rank);
    for (size_t i = 0; i < count; i++)
        found[ranked[i].category].rank = (uint32_t)i + 1;
    return 0;
}

static void compare(struct memory_found *found, const struct memory_category *category,
                    const struct population *population)
{
    const struct population_category *same = population_find(population, category->kind, category->name);
    found->healthy_bytes = (struct fact){same ? sketch_quantile(&same->bytes, population->weight, 50) : 0, true};
    found->healthy_count = (struct fact){same ? sketch_quantile(&same->objects, population->weight, 50) : 0, true};
}

int suspects_find(struct memory *memory, struct arena *arena, const struct suspect_rules *rules,
                  const struct healthy *healthy)
{
    const struct population *population = healthy->population;
    struct memory_found *found = arena_array(arena, memory->category_count, sizeof *found);
    if (!found)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < memory->category_count; i++) {
        const struct memory_category *category = &memory->categories[i];
        const struct suspect_rule *rule = rule_of(rules, category);
        if (population)
            compare(&found[i], category, population);
        if (!rule)
            continue;
        found[i].may_be_suspect = rule->bytes.known || rule->objects.known || rule->grown.known;
        found[i].reason = judge(category, &found[i], rule, memory->held_bytes);
        found[i].rule = found[i].reason ? rule->line : 0;
    }
    int rc = rank(found, arena, memory);
    memory->found = found;
    if (!population)
        return rc;
    memory->healthy_scope = healthy->scope;
    memory->healthy_reports = population->reports;
    memory->healthy_footprint_bytes =
        (struct fact){sketch_quantile(&population->footprint, population->weight, 50), true};
    return rc;
}
