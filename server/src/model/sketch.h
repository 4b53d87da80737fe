/*
 * sketch.h - how numbers are spread, in little room: counts of them by size, sixteen bins to a doubling.
 *
 *     value  0 1 2 ... 31 | 32-33 34-35 ... 62-63 | 64-67 68-71 ...      a bin is known by its number alone, so
 *     bin    0 1 2 ... 31 |   32    33  ...   47  |   48    49  ...      sketches of different machines add up
 *
 * Numbers below 32 are exact; a quantile of larger numbers is off by at most one part in 32. Addition is commutative:
 * the same numbers give the same sketch in any order and grouping. Pure; one thread at a time per sketch.
 */
#ifndef MIRE_MODEL_SKETCH_H
#define MIRE_MODEL_SKETCH_H

#include "base/arena.h"

#include <stdint.h>

#define MIRE_SKETCH_BINS 976 /* above the number of every bin */

struct sketch_bin {
    uint32_t bin;
    uint64_t weight;
};

/* Zeroed: empty. */
struct sketch {
    size_t count, room;
    struct sketch_bin *bins; /* by rising number, none empty; in the arena */
};

/* Number of the bin of a value, and the middle value of a bin. */
uint32_t sketch_bin_of(uint64_t value);
uint64_t sketch_bin_value(uint32_t bin);

/* Count a value `weight` times. 0, or MIRE_FAULT_MEMORY. */
int sketch_add(struct sketch *sketch, struct arena *arena, uint64_t value, uint64_t weight);

/* Count all of `more` too. 0, or MIRE_FAULT_MEMORY. */
int sketch_merge(struct sketch *sketch, struct arena *arena, const struct sketch *more);

/* Subtract an added sketch; no bin falls below zero. */
void sketch_take(struct sketch *sketch, const struct sketch *less);

/*
 * The smallest value that is not below `percent` of all.
 *
 *   all  how many there are: those that were not added are zeros; no fewer than were added
 */
uint64_t sketch_quantile(const struct sketch *sketch, uint64_t all, unsigned percent);

#endif
