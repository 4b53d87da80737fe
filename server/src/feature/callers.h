/*
 * callers.h - a way from the outermost call inwards: who on it is to blame, and in which scene. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CALLERS_H
#define MIRE_FEATURE_CALLERS_H

#include "feature/feature.h"

struct way {
    const struct resolved *doc;
    const enum rule_class *classes; /* one a place */
    const uint32_t *places;         /* outermost first */
    size_t count;
};

/* Step of the one to blame, and in words how it came to that; 0 if the way is empty. */
size_t way_caller1(const struct way *way, const char **how);

/* Step of the scene. */
size_t way_caller2(const struct way *way, size_t caller1);

/* The function at a step, by name; "(no stack)" if the way is empty. 0, or MIRE_FAULT_MEMORY. */
int way_caller(struct caller *out, struct arena *arena, const struct way *way, size_t step);

/* The key of what else the feature says. 0, or MIRE_FAULT_MEMORY. */
int feature_seal(struct feature *feature, struct arena *arena);

#endif
