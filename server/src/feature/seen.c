/* seen.c - see seen.h. Two tables by hash, which double when they are half full. */
#include "feature/seen.h"

#include "base/fault.h"
#include "base/hash.h"

#include <string.h>

#define FIRST_ROOM 256 /* a power of 2 */

struct seen_module {
    uint64_t hash;
    const char *path;
    struct rules_module rules;
};

struct seen_rule {
    uint64_t hash;
    struct rules_subject subject;
    struct rule_found found, mark;
};

/* Answers of other rules are of no use. */
static void keep_to(struct rules_seen *seen, const struct rules *rules)
{
    if (seen->rules == rules_number(rules))
        return;
    seen_forget(seen);
    seen->rules = rules_number(rules);
}

/* Room for one entry more; both tables hold pointers to structs that begin with their hash. */
static int make_room(void ***table, size_t *room, size_t count, struct arena *arena)
{
    if (count < *room / 2)
        return 0;
    size_t more = *room ? *room * 2 : FIRST_ROOM;
    void **wider = arena_array(arena, more, sizeof *wider);
    if (!wider)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *room; i++) {
        if (!(*table)[i])
            continue;
        size_t at = *(const uint64_t *)(*table)[i] & (more - 1);
        while (wider[at])
            at = (at + 1) & (more - 1);
        wider[at] = (*table)[i];
    }
    *table = wider;
    *room = more;
    return 0;
}

int seen_module(const struct rules_module **out, struct rules_seen *seen, struct arena *arena,
                const struct rules *rules, const char *path)
{
    uint64_t hash = hash_for_table(0, path);

    keep_to(seen, rules);
    if (make_room((void ***)&seen->modules, &seen->module_room, seen->module_count, arena))
        return MIRE_FAULT_MEMORY;
    struct seen_module **place = &seen->modules[hash & (seen->module_room - 1)];
    while (*place && ((*place)->hash != hash || strcmp((*place)->path, path) != 0))
        place = place + 1 < seen->modules + seen->module_room ? place + 1 : seen->modules;
    if (!*place) {
        struct seen_module *module = arena_array(arena, 1, sizeof *module);
        if (!module)
            return MIRE_FAULT_MEMORY;
        *module = (struct seen_module){.hash = hash, .path = path};
        int rc = rules_module(&module->rules, arena, rules, path);
        if (rc)
            return rc;
        *place = module;
        seen->module_count++;
    }
    *out = &(*place)->rules;
    return 0;
}

static bool is_same(const struct rules_subject *a, const struct rules_subject *b)
{
    return a->module == b->module && a->language == b->language && a->entry == b->entry && a->leaf == b->leaf &&
           !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

static uint64_t hash_of(const struct rules_subject *subject)
{
    uint64_t hash =
        hash_for_table(hash_for_table((uint64_t)(uintptr_t)subject->module, subject->function), subject->file);
    hash = fnv_step(hash, (uint64_t)subject->language << 2 | (uint64_t)subject->entry << 1 | subject->leaf);
    return hash ^ hash >> 32;
}

int seen_find(struct rule_found *out, struct rule_found *mark_out, struct rules_seen *seen, struct arena *arena,
              const struct rules *rules, const struct rules_subject *subject)
{
    uint64_t hash = hash_of(subject);

    if (make_room((void ***)&seen->found, &seen->found_room, seen->found_count, arena))
        return MIRE_FAULT_MEMORY;
    struct seen_rule **place = &seen->found[hash & (seen->found_room - 1)];
    while (*place && ((*place)->hash != hash || !is_same(&(*place)->subject, subject)))
        place = place + 1 < seen->found + seen->found_room ? place + 1 : seen->found;
    if (!*place) {
        struct seen_rule *rule = arena_array(arena, 1, sizeof *rule);
        if (!rule)
            return MIRE_FAULT_MEMORY;
        *rule = (struct seen_rule){.hash = hash, .subject = *subject};
        rules_find(&rule->found, &rule->mark, rules, subject);
        *place = rule;
        seen->found_count++;
    }
    *out = (*place)->found;
    *mark_out = (*place)->mark;
    return 0;
}
