/*
 * hot.h - the hot stack, and the number of samples with each of its frames. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_HOT_H
#define MIRE_FEATURE_HOT_H

#include "base/arena.h"
#include "model/resolved.h"

/*
 * Choose among the samples of the thread with most time the stack whose innermost function repeats most often in a row,
 * the most recent among equals; without samples the device's choice stays. Fills doc->hot but for caller1 and caller2.
 * 0, or MIRE_FAULT_MEMORY.
 */
int hot_find(struct resolved *doc, struct arena *arena, const uint32_t *functions);

/* Index of the frame in the hot stack that is `function`, from the innermost: the innermost or the outermost such
 * frame. -1: none. */
int32_t hot_frame(const struct resolved *doc, const uint32_t *functions, uint32_t function, bool outermost);

#endif
