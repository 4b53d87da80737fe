/*
 * losses.h - what samples lack of a stack, and why, for people. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_LOSSES_H
#define MIRE_FEATURE_LOSSES_H

#include "base/arena.h"
#include "model/resolved.h"

#define MIRE_LOSSES_LIMIT 40 /* percent of the time without a stack: with more, the rest says nothing of the whole */

/*
 * "7 of 9 samples have no stack: the thread blocked every signal (6), the thread has ended (1)"; "" where all have one.
 *   thread  whose samples, as in report_sample; MIRE_TREE_ALL: everybody's
 * 0, or MIRE_FAULT_MEMORY.
 */
int losses_text(const char **out, struct arena *arena, const struct resolved *doc, uint32_t thread);

#endif
