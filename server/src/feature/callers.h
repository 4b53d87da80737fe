/*
 * callers.h - a way from the outermost call inwards, with the function to blame on it and its scene. Inside feature/
 * only.
 */
#ifndef MIRE_FEATURE_CALLERS_H
#define MIRE_FEATURE_CALLERS_H

#include "feature/feature.h"

struct way {
    const struct resolved *doc;
    const enum rule_class *classes; /* one for each location */
    const struct name *names;       /* the same */
    const uint32_t *locations;      /* outermost first */
    size_t count;
    size_t parted; /* number of outermost steps that belong to the loop, because its wait has them too; 0: unknown */
};

enum way_kind {
    WAY_APP,     /* an app function, or code outside all modules */
    WAY_UNKNOWN, /* there is no app function: the deepest function of a module with an unknown owner */
    WAY_LIBRARY, /* nor that: the deepest named function of a library or loop */
    WAY_RUNTIME, /* nor that: the deepest function */
    WAY_EMPTY,
};

struct way_found {
    size_t step; /* 0 if the way is empty */
    enum way_kind kind;
    const char *how; /* in words, static */
};

/* The function to blame: the deepest one of no skipped class. A main that runs a loop is never blamed for work inside
 * the loop. */
struct way_found way_caller1(const struct way *way);

/* Is there such a function on the way up from a node? */
bool way_has_app(const struct resolved *doc, const enum rule_class *classes, uint32_t node);

/* The deepest function inside a step whose module may be the app's. False: there is none. */
bool way_unknown_inside(struct way_found *out, const struct way *way, size_t step);

/* Is it the function main? */
bool way_is_main(const struct way *way, size_t step);

/* Step of the scene. */
size_t way_caller2(const struct way *way, size_t caller1);

/*
 * The function to blame if the stack is one moment of a computation, so that `caller1`, an app frame, is there by
 * chance: the innermost scene inside the loop that a rule names; otherwise the scene.
 */
struct way_found way_moment(const struct way *way, size_t caller1);

/* Does a rule call the function at a step a scene? */
bool way_is_scene(const struct way *way, size_t step);

/* The function at a step, by name; "(no stack)" if the way is empty. 0, or MIRE_FAULT_MEMORY. */
int way_caller(struct caller *out, struct arena *arena, const struct way *way, size_t step);

/* Hash of the calls from the first step to Caller1, by their names in keys, without direct recursion and functions that
 * the compiler made. It is never 0, except for an empty way. Functions without a name count as their module. */
int32_t way_tree(const struct way *way, size_t caller1);

/* Compute the key from the other members of the feature, and its parts in the document. 0, or MIRE_FAULT_MEMORY. */
int feature_seal(struct feature *feature, struct arena *arena, struct resolved *doc);

#endif
