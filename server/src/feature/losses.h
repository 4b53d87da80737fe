/*
 * losses.h - the limits of a verdict, in words for people. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_LOSSES_H
#define MIRE_FEATURE_LOSSES_H

#include "base/arena.h"
#include "model/report.h"
#include "model/resolved.h"

#define MIRE_LOSSES_LIMIT  40 /* percent of the time without a stack: with more, the rest says nothing of the whole */
#define MIRE_LOSSES_SILENT 50 /* percent of an event without samples: a smaller part is not mentioned */

/*
 * "7 of 9 samples have no stack: the thread blocked every signal (6), the thread had ended (1); 2 of 9 samples wait for
 * events or say nothing, and are left out; the samples cover 900 of 2100 ms"; "" where nothing is missing.
 *
 *   doc       after symbolication
 *   thread    whose samples, as in report_sample; MIRE_TREE_ALL: everybody's
 *   left_out  one a sample, those that marks leave out; NULL: none is
 *   event     whose length the samples should cover; NULL: of an event of the process, no length
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int losses_text(const char **out, struct arena *arena, const struct resolved *doc, uint32_t thread,
                const uint8_t *left_out, const struct report_event *event);

/*
 * The reason why most samples of a thread have no stack, if it is a lasting one such as "the thread blocked every
 * signal"; otherwise "". Static.
 */
const char *losses_lasting(const struct resolved *doc, uint32_t thread);

#endif
