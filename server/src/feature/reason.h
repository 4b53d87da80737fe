/*
 * reason.h - why the thread did not get on. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_REASON_H
#define MIRE_FEATURE_REASON_H

#include "feature/feature.h"

/*
 * Weigh the scheduler state and the innermost classified frame of every sample, and the thread's CPU time.
 *
 *   classes  one a location
 */
enum event_reason reason_find(const struct resolved *doc, const struct report *report, const enum rule_class *classes);

#endif
