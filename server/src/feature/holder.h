/*
 * holder.h - the holder of the lock that the hung thread waited for. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_HOLDER_H
#define MIRE_FEATURE_HOLDER_H

#include "base/arena.h"
#include "feature/rules.h"
#include "model/resolved.h"

/*
 * Find the thread, and the function to blame in it: the innermost app function on its stack, otherwise the innermost
 * one with a name.
 *
 *   doc       doc->holder is filled
 *   text_out  "writer in flushPages", "itself", or "" if unknown, with the lock that the holder itself waits for, if known; in
 *             the arena or static
 *   classes   one a location
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int holder_find(const char **text_out, struct arena *arena, struct resolved *doc, const enum rule_class *classes);

#endif
