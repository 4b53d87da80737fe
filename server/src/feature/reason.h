/*
 * reason.h - why the thread did not get on. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_REASON_H
#define MIRE_FEATURE_REASON_H

#include "feature/feature.h"

/*
 * Weigh what every sample's scheduler state and innermost classified frame say, and what the thread's CPU time says of
 * all.
 *
 *   classes  one a location
 */
enum event_reason reason_find(const struct resolved *doc, const struct report *report, const enum rule_class *classes);

#endif
