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
    uint32_t location; /* one of the function's locations: the one with most of its time here */
    uint64_t weight;   /* time below it, ms (or samples, if none has a weight) */
};

struct tree_path {
    const struct tree_step *steps; /* outermost first */
    size_t count;
    struct tree_step
        next;         /* the heaviest function inside the last step, below the threshold for a step; weight 0: none */
    uint64_t total;   /* of the counted samples with a stack */
    uint64_t without; /* of the counted samples without a stack */
    uint64_t all;     /* of both, and of the samples that are left out */
};

/* Number of each location's function: the locations of one image with one name in keys are one function. `names` are
 * those of classes.h. 0, or a fault. */
int tree_functions(uint32_t **out, struct arena *arena, const struct resolved *doc, const struct name *names);

struct tree_walk {
    const uint32_t *functions; /* of tree_functions */
    unsigned percent;          /* of its parent's time, for one more step */
    unsigned least;            /* percent of all time: a smaller share may be chance */
    uint32_t thread;           /* as in report_sample; MIRE_TREE_ALL: all threads */
    const uint8_t *left_out;   /* samples that do not count; NULL: all count */
};

/*
 * Descend from the root as long as one function has at least `percent` of its parent's time. A function that calls itself
 * directly is one step. A stack without its outer end (MIRE_LOSS_PARTIAL) joins the complete stacks at its outermost
 * function.
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int tree_path(struct tree_path *out, struct arena *arena, const struct resolved *doc, const struct tree_walk *how);

/* The thread with most time in the samples, the first of equals; 0 without samples. */
uint32_t tree_heaviest_thread(const struct resolved *doc);

#endif
