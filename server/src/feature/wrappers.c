/* wrappers.c - see wrappers.h. A pass over the stacks gathers the evidence of every function; names are believed first.
 */
#include "feature/wrappers.h"

#include "base/fault.h"

#include <ctype.h>
#include <string.h>

#define SEEN_MAX   3 /* distinct callers and sizes of a function */
#define PASSES_MAX 8 /* a wrapper of a wrapper takes one pass more */

struct set {
    uint32_t members[SEEN_MAX];
    uint32_t count;
};

struct evidence { /* of a function */
    bool seen;
    bool calls_others; /* in some stack it is not directly outside an allocator */
    struct set callers, sizes;
};

enum hint { HINT_NONE, HINT_WEAK, HINT_STRONG };

struct wrapper_search {
    const struct resolved *doc;
    const uint32_t *functions;
    enum rule_class *of;       /* per location */
    struct evidence *evidence; /* per function */
};

static void set_add(struct set *set, uint32_t member)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->members[i] == member)
            return;
    if (set->count < SEEN_MAX)
        set->members[set->count++] = member;
}

/* Does `name` hold the word, in any case? */
static bool has_word(const char *name, const char *word)
{
    size_t len = strlen(word);
    for (; *name; name++) {
        size_t i = 0;
        while (i < len && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (i == len)
            return true;
    }
    return false;
}

static enum hint hint_of(const struct resolved_location *location)
{
    static const char *const words[] = {"malloc", "calloc", "realloc", "strdup", "strndup", "memdup"};
    for (size_t i = 0; location->named && i < sizeof words / sizeof *words; i++)
        if (has_word(location->function, words[i]))
            return HINT_STRONG;
    return location->named && has_word(location->function, "alloc") ? HINT_WEAK : HINT_NONE;
}

/* A function of the C library that allocates for its caller counts as an allocator: strdup, reallocarray. */
static bool is_allocator(const struct wrapper_search *s, uint32_t location)
{
    return s->of[location] == MIRE_CLASS_ALLOCATOR ||
           (s->of[location] == MIRE_CLASS_RUNTIME && hint_of(&s->doc->locations[location]) == HINT_STRONG);
}

/* Visit a stack from its innermost frame outwards. It begins inside the function that called the allocator. */
static void look_at(struct wrapper_search *s, const struct memory_stack *stack)
{
    const struct resolved_node *nodes = s->doc->nodes;
    bool direct = true;
    for (uint32_t node = stack->node; node; node = nodes[node].parent) {
        uint32_t location = nodes[node].location, parent = nodes[node].parent, function = s->functions[location];
        struct evidence *evidence = &s->evidence[function];
        while (parent && s->functions[nodes[parent].location] == function)
            parent = nodes[parent].parent; /* direct recursion */
        evidence->seen = true;
        evidence->calls_others |= !direct;
        if (parent)
            set_add(&evidence->callers, s->functions[nodes[parent].location]);
        if (s->doc->memory.categories[stack->category].kind == MIRE_MEMORY_HEAP)
            set_add(&evidence->sizes, stack->category);
        direct = direct && is_allocator(s, location);
    }
}

static bool speaks_for_itself(const struct evidence *evidence)
{
    return evidence->callers.count >= 2 && evidence->sizes.count >= 2 &&
           evidence->callers.count + evidence->sizes.count >= 5;
}

static bool is_wrapper(const struct wrapper_search *s, uint32_t location, bool by_place_alone)
{
    const struct evidence *evidence = &s->evidence[s->functions[location]];
    enum hint hint = hint_of(&s->doc->locations[location]);
    if (!rule_class_is_app(s->of[location]) || s->doc->locations[location].rule || !evidence->seen ||
        evidence->calls_others || !evidence->callers.count)
        return false;
    if (hint == HINT_STRONG)
        return true;
    return hint == HINT_WEAK ? evidence->callers.count >= 2 : by_place_alone && speaks_for_itself(evidence);
}

/* One pass. Returns whether a wrapper was found. */
static bool pass(struct wrapper_search *s, bool by_place_alone)
{
    const struct resolved *doc = s->doc;
    bool found = false;
    if (doc->location_count)
        memset(s->evidence, 0, doc->location_count * sizeof *s->evidence);
    for (size_t i = 0; i < doc->memory.stack_count; i++)
        look_at(s, &doc->memory.stacks[i]);
    for (uint32_t p = 0; p < doc->location_count; p++)
        if (is_wrapper(s, p, by_place_alone)) {
            s->of[p] = MIRE_CLASS_ALLOCATOR;
            found = true;
        }
    return found;
}

int wrappers_find(enum rule_class **plain_out, struct classes *classes, struct arena *arena, struct resolved *doc,
                  const uint32_t *functions)
{
    struct resolved_location *locations = arena_array(arena, doc->location_count, sizeof *locations);
    struct wrapper_search s = {.doc = doc, .functions = functions, .of = classes->of};
    s.evidence = arena_array(arena, doc->location_count, sizeof *s.evidence);
    *plain_out = arena_array(arena, doc->location_count, sizeof **plain_out);
    if (!locations || !s.evidence || !*plain_out)
        return MIRE_FAULT_MEMORY;
    if (!doc->location_count)
        return 0;
    memcpy(*plain_out, classes->of, doc->location_count * sizeof **plain_out);
    memcpy(locations, doc->locations, doc->location_count * sizeof *locations);
    for (int i = 0; i < PASSES_MAX && pass(&s, false); i++)
        continue;
    pass(&s, true);
    for (size_t p = 0; p < doc->location_count; p++)
        if (classes->of[p] != (*plain_out)[p]) {
            locations[p].role = rule_role(classes->of[p]);
            locations[p].rule = 0;
        }
    doc->locations = locations;
    return 0;
}
