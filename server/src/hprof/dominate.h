/*
 * dominate.h - who keeps an object alive alone. Inside hprof/ only.
 *
 * Node d dominates n if every way from the root to n goes through d; of all such the nearest is n's immediate dominator.
 * L. Georgiadis, "Linear-time algorithms for dominators and related problems", Princeton 2005, section 2.3: semidominators
 * as T. Lengauer and R. E. Tarjan find them, then nearest common ancestors (SEMI-NCA). Without recursion.
 */
#ifndef MIRE_HPROF_DOMINATE_H
#define MIRE_HPROF_DOMINATE_H

#include "hprof/heap.h"

struct dominators {
    uint32_t count;      /* reached nodes with the root, numbered 1..count in the order of the search */
    uint32_t *number;    /* per node of the heap; 0: not reached */
    uint32_t *node;      /* per number: the heap's node */
    uint32_t *dominator; /* per number above 1: the smaller number of its immediate dominator */
};

/* The arrays are the spill's; the heap's edges are dropped. False: errno says why. */
bool dominate(struct dominators *out, struct heap *heap);

#endif
