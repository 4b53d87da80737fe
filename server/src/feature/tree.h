/*
 * tree.h - the weighted call tree: which functions, from the root down, hold most of the time. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_TREE_H
#define MIRE_FEATURE_TREE_H

#include "base/arena.h"
#include "feature/names.h"
#include "model/resolved.h"

#define MIRE_TREE_ALL UINT32_MAX

struct tree_step {
    uint32_t location; /* one of the function's locations: the one that holds most of its time here */
    uint64_t weight;   /* time below it, ms (or samples, if none has a weight) */
};

struct tree_path {
    const struct tree_step *steps; /* outermost first */
    size_t count;
    struct tree_step next; /* the heaviest function inside the last step, which is no step; weight 0: there is none */
    uint64_t total;        /* of the samples that count and have a stack */
    uint64_t without;      /* of those that count and have none */
    uint64_t all;          /* of both, and of those that are left out */
};

/* Number of each location's function: locations of one function, by the name that enters a key, in one image have one number.
 * `names` are those of classes.h. 0, or a fault. */
int tree_functions(uint32_t **out, struct arena *arena, const struct resolved *doc, const struct name *names);

struct tree_walk {
    const uint32_t *functions; /* of tree_functions */
    unsigned percent;          /* of its parent's time, that the way on holds */
    unsigned least;            /* percent of all time: below, nobody is told from chance */
    uint32_t thread;           /* whose samples, as in report_sample; MIRE_TREE_ALL: everybody's */
    const uint8_t *left_out;   /* samples that do not count; NULL: all do */
};

/*
 * Descend from the root as long as one function holds at least that much of its parent's time. A function that calls
 * itself directly is one step. A stack whose outer end is missing (MIRE_LOSS_PARTIAL) joins the whole ones at the
 * function that it begins with.
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int tree_path(struct tree_path *out, struct arena *arena, const struct resolved *doc, const struct tree_walk *how);

/* The thread with most time in the samples, the first of equals; 0 without samples. */
uint32_t tree_heaviest_thread(const struct resolved *doc);

#endif
