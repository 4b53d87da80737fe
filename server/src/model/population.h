/*
 * population.h - the memory of many processes: for every category a sketch of the held bytes.
 *
 *     report report report ...  ->  footprint ~  held ~
 *                                   "Malloc 48 B"  bytes ~  objects ~  suspect in 3 of 40
 *
 * Stored as bytes. Populations of several machines, days or versions can be added. A process without a category counts
 * as zero, so a median is that of all processes, not only of those with the category. At most
 * MIRE_POPULATION_CATEGORIES are kept; categories that come later are ignored.
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
    struct arena *arena; /* for all its growing parts */
    uint64_t reports;    /* that have it */
    uint64_t weight;     /* of its processes: the base of quantiles */
    struct sketch footprint, held;
    size_t count, room;
    struct population_category *categories; /* by kind, then name */
};

/* Make it empty. */
void population_init(struct population *population, struct arena *arena);

/* Add one report. 0, or MIRE_FAULT_MEMORY. */
int population_add(struct population *population, const struct memory *memory, uint64_t weight);

/* Count all of `more` too. 0, or MIRE_FAULT_MEMORY. */
int population_merge(struct population *population, const struct population *more);

/* Subtract an added population; a category without a process is dropped. */
void population_take(struct population *population, const struct population *less);

/* The category, or NULL. */
const struct population_category *population_find(const struct population *population, enum memory_kind kind,
                                                  const char *name);

/* The same as bytes: owned by caller (free). 0, or -1 out of memory. */
int population_encode(unsigned char **bytes_out, size_t *len_out, const struct population *population);

/* Read it back. 0, or -1 if the bytes are no population, or there is no memory; *out is then empty. */
int population_decode(struct population *out, struct arena *arena, const unsigned char *bytes, size_t len);

#endif
