/*
 * marks.h - meaningless stacks: their samples, and whether they are most of the report. Inside feature/ only.
 *
 *     idle         the thread waits for events: a function with this mark, with no app function inside and no handler outside
 *     truncated    the outer end is missing
 *     meaningless  the stack has no information
 *     moment       a single sample in the middle of a computation: the innermost function is chance
 *
 * Marked samples are left out of the tree, unless most of the time is of that mark.
 */
#ifndef MIRE_FEATURE_MARKS_H
#define MIRE_FEATURE_MARKS_H

#include "feature/classes.h"

struct marks {
    const uint8_t *left_out; /* a flag for each sample; NULL: none is left out */
    enum rule_class most;    /* the mark of most of the time; MIRE_CLASS_NONE: no mark has most */
};

/* percent: the share of all time that counts as most. 0, or MIRE_FAULT_MEMORY. */
int marks_find(struct marks *out, struct arena *arena, const struct resolved *doc, const struct classes *classes,
               unsigned percent);

#endif
