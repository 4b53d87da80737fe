/*
 * tree.h - the weighted call tree: which functions, from the root down, hold most of the time. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_TREE_H
#define MIRE_FEATURE_TREE_H

#include "base/arena.h"
#include "model/resolved.h"

#define MIRE_TREE_ALL UINT32_MAX

struct tree_step {
    uint32_t place;  /* one of the function's places: the one that holds most of its time here */
    uint64_t weight; /* time below it, ms (or samples, if none has a weight) */
};

struct tree_path {
    const struct tree_step *steps; /* outermost first */
    size_t count;
    uint64_t total; /* of all samples that have a stack */
};

/* Number of each place's function: places of one function in one image have one number. 0, or a fault. */
int tree_functions(uint32_t **out, struct arena *arena, const struct resolved *doc);

/*
 * Descend from the root as long as one function holds at least `percent` of the total. A function that calls itself
 * directly is one step.
 *
 *   functions  of tree_functions
 *   thread     whose samples, as in report_sample; MIRE_TREE_ALL: everybody's
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int tree_path(struct tree_path *out, struct arena *arena, const struct resolved *doc, const uint32_t *functions,
              unsigned percent, uint32_t thread);

/* The thread with most time in the samples, the first of equals; 0 without samples. */
uint32_t tree_heaviest_thread(const struct resolved *doc);

#endif
