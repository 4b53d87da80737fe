/*
 * ways.h - the tree of dominators, by class: objects with the same classes above them are one row. Inside hprof/ only.
 *
 *     way 0 the root; way w: parent w' (w' < w), what it is, objects and their bytes
 *
 * An object that an object of its own class keeps (a list's next node) is of that one's way. Ways deeper than
 * WAYS_DEPTH, or beyond WAYS_MAX, begin again below "several".
 */
#ifndef MIRE_HPROF_WAYS_H
#define MIRE_HPROF_WAYS_H

#include "hprof/dominate.h"

#define WAYS_MAX   200000
#define WAYS_DEPTH 60

/* A step of a way: an object of a class, the class itself (its static fields), or a reason to live. */
enum { WAY_SEVERAL = ROOT_KINDS, WAY_GARBAGE, WAY_REASONS };

static inline uint32_t way_of_class(uint32_t class, bool itself)
{
    return WAY_REASONS + 2 * class + itself;
}

struct keeper {
    uint32_t parent, label;
    uint32_t depth;
    uint64_t count, bytes;
};

struct ways {
    struct keeper *rows; /* owned */
    uint32_t count;
    uint32_t *table; /* owned */
};

/* False: no memory. ways_fini is due in any case. */
bool ways_make(struct ways *out, struct heap *heap, const struct dominators *dominators);
void ways_fini(struct ways *ways);

/* The class of the objects of a way; a reason has none: UINT32_MAX. */
uint32_t way_class(const struct heap *heap, const struct keeper *way);

#endif
