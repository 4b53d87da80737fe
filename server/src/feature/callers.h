/*
 * callers.h - a way from the outermost call inwards: who on it is to blame, and in which scene. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CALLERS_H
#define MIRE_FEATURE_CALLERS_H

#include "feature/feature.h"

struct way {
    const struct resolved *doc;
    const enum rule_class *classes; /* one a location */
    const struct name *names;       /* the same */
    const uint32_t *locations;      /* outermost first */
    size_t count;
    size_t parted; /* so many of the outermost steps are the loop: its wait has them too; 0: that is not known */
};

enum way_kind {
    WAY_APP,     /* an app function, or code outside all modules */
    WAY_UNKNOWN, /* none is on the way: the deepest function of a module of which nobody knows whose it is */
    WAY_LIBRARY, /* nor such a one: the deepest named function of a library or loop */
    WAY_RUNTIME, /* nor such a one: the deepest function */
    WAY_EMPTY,
};

struct way_found {
    size_t step; /* 0 if the way is empty */
    enum way_kind kind;
    const char *how; /* in words, static */
};

/* The one to blame: the deepest function of no skipped class. A main that runs a loop answers for nothing inside it. */
struct way_found way_caller1(const struct way *way);

/* Is there such a one on the way up from a node? */
bool way_has_app(const struct resolved *doc, const enum rule_class *classes, uint32_t node);

/* The deepest function inside a step that lies in a module that may be the app's. False: there is none. */
bool way_unknown_inside(struct way_found *out, const struct way *way, size_t step);

/* Is it the function main? */
bool way_is_main(const struct way *way, size_t step);

/* Step of the scene. */
size_t way_caller2(const struct way *way, size_t caller1);

/*
 * The one to blame where the stack is one moment of a computation, and `caller1`, an app frame, is chance: the
 * innermost scene that a rule names inside the loop, else the scene as above.
 */
struct way_found way_moment(const struct way *way, size_t caller1);

/* Does a rule call the function at a step a scene? */
bool way_is_scene(const struct way *way, size_t step);

/* The function at a step, by name; "(no stack)" if the way is empty. 0, or MIRE_FAULT_MEMORY. */
int way_caller(struct caller *out, struct arena *arena, const struct way *way, size_t step);

/* Hash of the calls from the first step to Caller1, by the names that enter keys, without direct recursion and what the
 * compiler made: never 0 but for an empty way. Functions without a name count as their module. */
int32_t way_tree(const struct way *way, size_t caller1);

/* The key of what else the feature says, and its parts in the document. 0, or MIRE_FAULT_MEMORY. */
int feature_seal(struct feature *feature, struct arena *arena, struct resolved *doc);

#endif
