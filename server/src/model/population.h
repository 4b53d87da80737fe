/*
 * population.h - what the memory of many processes looks like: of every category how much they hold, as sketches.
 *
 *     report report report ...  ->  footprint ~  held ~
 *                                   "Malloc 48 B"  bytes ~  objects ~  suspect in 3 of 40
 *
 * Stored as bytes; those of several machines, days or versions add up. A category that a process does not have counts
 * as zero, so a median is that of all processes, not of those which have it. At most MIRE_POPULATION_CATEGORIES are
 * kept: of what comes when it is full, nothing is known.
 */
#ifndef MIRE_MODEL_POPULATION_H
#define MIRE_MODEL_POPULATION_H

#include "model/memory.h"
#include "model/sketch.h"

#include <stdbool.h>

#define MIRE_POPULATION_CATEGORIES 4096
#define MIRE_POPULATION_NAME_MAX   255 /* bytes; longer ones are cut */

struct population_category {
    const char *name;
    enum memory_kind kind;
    uint64_t suspects; /* processes in which a rule found it suspect, by their weight */
    struct sketch bytes, objects;
};

struct population {
    struct arena *arena; /* all that grows lies in it */
    uint64_t reports;    /* that told */
    uint64_t weight;     /* processes that they stand for: what quantiles are of */
    struct sketch footprint, held;
    size_t count, room;
    struct population_category *categories; /* by kind, then name */
};

/* An empty one. */
void population_init(struct population *population, struct arena *arena);

/* Count one report. 0, or MIRE_FAULT_MEMORY. */
int population_add(struct population *population, const struct memory *memory, uint64_t weight);

/* Count all of `more` too. 0, or MIRE_FAULT_MEMORY. */
int population_merge(struct population *population, const struct population *more);

/* Take away what was added; a category that nothing is left of goes. */
void population_take(struct population *population, const struct population *less);

/* The category, or NULL. */
const struct population_category *population_find(const struct population *population, enum memory_kind kind,
                                                  const char *name);

/* The same as bytes: owned by caller (free). 0, or -1 out of memory. */
int population_encode(unsigned char **bytes_out, size_t *len_out, const struct population *population);

/* Read them back. 0, or -1 if they are no population, or memory ran out; *out is then empty. */
int population_decode(struct population *out, struct arena *arena, const unsigned char *bytes, size_t len);

#endif
