/*
 * hot.h - the hot stack, and how often each of its frames stands in the samples. Inside feature/ only.
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

/* Frame of the hot stack, counted from the innermost, that is `function`: the innermost or the outermost such. -1:
 * none. */
int32_t hot_frame(const struct resolved *doc, const uint32_t *functions, uint32_t function, bool outermost);

#endif
