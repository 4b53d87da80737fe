/*
 * facts.h - a report's remaining facts as readable pairs, for people. What the resolved-stack document carries as
 * fields of its own is not repeated.
 */
#ifndef MIRE_MODEL_FACTS_H
#define MIRE_MODEL_FACTS_H

#include "base/arena.h"
#include "model/resolved.h"

/* The pairs, in the arena, static names. 0, or -1 out of memory. */
int report_facts(const struct resolved_fact **out, size_t *count_out, struct arena *arena, const struct report *report);

#endif
