/*
 * marks.h - meaningless stacks: their samples, and whether they are most of the report. Inside feature/ only.
 *
 *     idle         the thread waits for events: a function that is marked so, no app function inside it, and no handler
 *                  outside it
 *     truncated    its outer end is missing
 *     meaningless  says nothing
 *     moment       was taken once, in the middle of a computation: its innermost function is chance
 *
 * Marked samples are left out of the tree, unless most of the time is of that mark.
 */
#ifndef MIRE_FEATURE_MARKS_H
#define MIRE_FEATURE_MARKS_H

#include "feature/classes.h"

struct marks {
    const uint8_t *left_out; /* one for each sample; NULL: none is left out */
    enum rule_class most;    /* the mark that most of the time has; MIRE_CLASS_NONE: none has */
};

/* percent: the share of all time that counts as most. 0, or MIRE_FAULT_MEMORY. */
int marks_find(struct marks *out, struct arena *arena, const struct resolved *doc, const struct classes *classes,
               unsigned percent);

#endif
