/* memory.c - a way for every stack, then sums over the stacks of the category to blame. */
#include "feature/memory.h"

#include "base/fault.h"
#include "feature/callers.h"
#include "feature/category.h"
#include "feature/classes.h"
#include "feature/tree.h"
#include "feature/wrappers.h"

#include <string.h>

struct blaming {
    struct arena *arena;
    struct resolved *doc;
    struct classes classes;
    enum rule_class *plain; /* per location: its class before the app's own allocators were found */
    uint32_t *functions;    /* per location */
    uint32_t *locations;    /* of the present way */
    uint64_t *held;         /* per function: by the stacks with it as Caller1 */
};

static size_t depth_of(const struct resolved *doc, uint32_t node)
{
    size_t depth = 0;
    for (; node; node = doc->nodes[node].parent)
        depth++;
    return depth;
}

/* The way to a node; its locations lie in the scratch memory. */
static struct way way_to(struct blaming *b, uint32_t node)
{
    size_t depth = depth_of(b->doc, node);
    for (size_t i = depth; node; node = b->doc->nodes[node].parent)
        b->locations[--i] = b->doc->nodes[node].location;
    struct way way = {b->doc, b->classes.of, b->classes.names, b->locations, depth, 0};
    if (way_caller1(&way).kind != WAY_APP)
        way.classes = b->plain; /* an allocator of the app is blamed if no other app function is on the way */
    return way;
}

static int find_all_callers(struct blaming *b)
{
    struct memory *memory = &b->doc->memory;
    struct memory_stack *stacks = arena_array(b->arena, memory->stack_count, sizeof *stacks);
    size_t deepest = 0;
    if (!stacks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < memory->stack_count; i++) {
        size_t depth = depth_of(b->doc, memory->stacks[i].node);
        deepest = depth > deepest ? depth : deepest;
    }
    b->locations = arena_array(b->arena, deepest, sizeof *b->locations);
    if (!b->locations)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < memory->stack_count; i++) {
        stacks[i] = memory->stacks[i];
        struct way way = way_to(b, stacks[i].node);
        stacks[i].caller1 = way.count ? (int32_t)(way.count - 1 - way_caller1(&way).step) : -1;
    }
    memory->stacks = stacks;
    return 0;
}

static uint64_t weight_of(const struct memory_stack *stack, enum memory_reason reason)
{
    if (reason == MIRE_MEMORY_TOO_MANY_OBJECTS)
        return stack->count;
    if (reason == MIRE_MEMORY_GROWS && stack->grown.known)
        return stack->grown.bytes > 0 ? (uint64_t)stack->grown.bytes : 0;
    return stack->bytes;
}

static uint32_t caller1_function(const struct blaming *b, const struct memory_stack *stack)
{
    uint32_t node = stack->node;
    for (int32_t i = 0; i < stack->caller1; i++)
        node = b->doc->nodes[node].parent;
    return b->functions[b->doc->nodes[node].location];
}

/* The stack for the callers, and the bytes of all stacks with its Caller1; NULL if no stack has frames. */
static const struct memory_stack *find_stack(uint64_t *held_out, uint64_t *all_out, struct blaming *b, size_t category,
                                             enum memory_reason reason)
{
    const struct memory *memory = &b->doc->memory;
    struct memory_stacks range = memory_stacks_of(memory, category);
    const struct memory_stack *best = NULL, *stacks = memory->stacks + range.first;
    *all_out = 0;
    for (size_t i = 0; i < range.count; i++) {
        *all_out += weight_of(&stacks[i], reason);
        if (stacks[i].caller1 >= 0)
            b->held[caller1_function(b, &stacks[i])] += weight_of(&stacks[i], reason);
    }
    for (size_t i = 0; i < range.count; i++) {
        uint64_t held = stacks[i].caller1 >= 0 ? b->held[caller1_function(b, &stacks[i])] : 0;
        if (stacks[i].caller1 < 0 || (best && held <= *held_out))
            continue; /* the stacks come with most bytes first: of one function's the first is kept */
        best = &stacks[i];
        *held_out = held;
    }
    return best;
}

/*
 * The first suspect; without one the largest category for which a rule sets a limit, if possible one with stacks.
 * category_count: there is no such category.
 */
static size_t category_to_blame(const struct memory *memory)
{
    size_t largest = memory->category_count;
    for (size_t i = 0; i < memory->category_count; i++)
        if (memory->found[i].rank == 1)
            return i;
    for (size_t i = memory->category_count; i-- > 0;)
        if (memory->found[i].may_be_suspect &&
            (largest == memory->category_count || memory_stacks_of(memory, i).count ||
             !memory_stacks_of(memory, largest).count))
            largest = i;
    return largest;
}

static enum event_reason reason_of(enum memory_reason reason)
{
    static const enum event_reason reasons[MIRE_MEMORY_REASON_COUNT] = {
        [MIRE_MEMORY_NOT_SUSPECT] = MIRE_REASON_UNKNOWN,
        [MIRE_MEMORY_TOO_MANY_BYTES] = MIRE_REASON_BYTES,
        [MIRE_MEMORY_TOO_MANY_OBJECTS] = MIRE_REASON_OBJECTS,
        [MIRE_MEMORY_GROWS] = MIRE_REASON_GROWTH,
    };
    return reasons[reason];
}

static int explain(struct feature *out, struct arena *arena, const struct memory_category *category,
                   enum memory_reason reason, uint64_t held, uint64_t all, const char *how)
{
    static const char *const of_what[MIRE_MEMORY_REASON_COUNT] = {"bytes", "bytes", "objects", "growth"};
    out->why =
        arena_printf(arena, "%s holds %u %% of the %s of %s whose stacks are known (%s)", out->caller1.function,
                     (unsigned)(all ? (double)held * 100 / (double)all : 0), of_what[reason], category->name, how);
    return out->why ? 0 : MIRE_FAULT_MEMORY;
}

/* Held bytes above the healthy median; all of them if it is not known. */
static uint64_t above_healthy(const struct memory_category *category, const struct memory_found *found)
{
    uint64_t healthy = found->healthy_bytes.known ? found->healthy_bytes.value : 0;
    return category->held_bytes > healthy ? category->held_bytes - healthy : 0;
}

static int find_callers(struct feature *out, struct blaming *b)
{
    const struct memory *memory = &b->doc->memory;
    const char *how = "no stack of it is known";
    uint64_t held = 0, all = 0;
    size_t at = category_to_blame(memory), one = 0, two = 0;
    if (at == memory->category_count) {
        out->caller1 = out->caller2 = (struct caller){.function = "(no stack)", .image = "", .location = ""};
        out->subject = "(nothing)"; /* never empty: the subject tells memory from other kinds */
        out->why = at ? "no rule lets a category of the report be suspect" : "the report has no categories";
        return 0;
    }
    const struct memory_category *category = &memory->categories[at];
    enum memory_reason reason = memory->found[at].reason;
    const struct memory_stack *stack = find_stack(&held, &all, b, at, reason);
    struct way way = way_to(b, stack ? stack->node : 0);
    if (way.count) {
        struct way_found found = way_caller1(&way);
        one = found.step;
        how = found.how;
        two = way_caller2(&way, one);
    }
    out->subject = category->name;
    out->subject_bytes = category->held_bytes;
    out->above_bytes = above_healthy(category, &memory->found[at]);
    out->reason = reason_of(reason);
    out->tree = way_tree(&way, one);
    out->stack = stack ? stack->node : 0;
    out->stack_caller1 = stack ? stack->caller1 : -1;
    int rc = way_caller(&out->caller1, b->arena, &way, one);
    if (!rc)
        rc = way_caller(&out->caller2, b->arena, &way, two);
    if (memory->name[0])
        out->caller2 = (struct caller){.function = memory->name, .image = "", .location = ""};
    return rc ? rc : explain(out, b->arena, category, reason, held, all, how);
}

int feature_find_memory(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                        const struct memory_packs *packs)
{
    struct blaming b = {.arena = arena, .doc = doc};
    *out = (struct feature){.category = category_find(report),
                            .topic = "",
                            .subject = "",
                            .holder = "",
                            .rules_version = rules_version(packs->rules) + suspect_rules_version(packs->suspects)};
    int rc = classes_find(&b.classes, arena, doc, report, packs->rules, packs->seen);
    if (!rc)
        rc = tree_functions(&b.functions, arena, doc, b.classes.names);
    if (!rc)
        rc = wrappers_find(&b.plain, &b.classes, arena, doc, b.functions);
    if (!rc)
        rc = suspects_find(&doc->memory, arena, packs->suspects, &packs->healthy);
    if (!rc)
        rc = find_all_callers(&b);
    b.held = rc ? NULL : arena_array(arena, doc->location_count, sizeof *b.held);
    if (!rc && !b.held)
        rc = MIRE_FAULT_MEMORY;
    if (!rc)
        rc = find_callers(out, &b);
    if (!rc)
        doc->why = out->why;
    return rc ? rc : feature_seal(out, arena, doc);
}
