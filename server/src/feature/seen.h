/*
 * seen.h - a cache of the rules' answers for the reports of a batch: most reports of an app have the same modules and
 * functions.
 *
 * The answers lie in one arena, and are forgotten with it (seen_forget). One thread at a time.
 */
#ifndef MIRE_FEATURE_SEEN_H
#define MIRE_FEATURE_SEEN_H

#include "base/arena.h"
#include "feature/rules.h"

struct seen_module; /* a module, and the functions in it */
struct seen_rule;

struct rules_seen {
    uint64_t rules; /* number of the rules that gave the answers */
    struct seen_module **modules;
    size_t module_room, module_count;
    struct seen_rule **found;
    size_t found_room, found_count;
};

/* Before the arena of the answers is emptied. */
static inline void seen_forget(struct rules_seen *seen)
{
    *seen = (struct rules_seen){0};
}

/*
 * rules_module and rules_find, with each answer computed once.
 *
 *   arena    the same for all calls between two seen_forget; texts of the subject live as long as the arena
 *   subject  its module is one of seen_module's
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int seen_module(const struct rules_module **out, struct rules_seen *seen, struct arena *arena,
                const struct rules *rules, const char *path);
int seen_find(struct rule_found *out, struct rule_found *mark_out, struct rules_seen *seen, struct arena *arena,
              const struct rules *rules, const struct rules_subject *subject);

#endif
