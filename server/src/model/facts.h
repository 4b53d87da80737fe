/*
 * facts.h - the remaining facts of a report as readable pairs. Facts with their own fields in the resolved-stack
 * document are left out.
 */
#ifndef MIRE_MODEL_FACTS_H
#define MIRE_MODEL_FACTS_H

#include "base/arena.h"
#include "model/resolved.h"

/* The pairs, in the arena, static names. 0, or -1 out of memory. */
int report_facts(const struct resolved_fact **out, size_t *count_out, struct arena *arena, const struct report *report);

#endif
