/*
 * view.h - the events that a query of the API covers: one app, a time range, and the dashboard's filters.
 */
#ifndef MIRE_MODEL_VIEW_H
#define MIRE_MODEL_VIEW_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A time range in seconds since 1970 UTC, whole hours, from included, to not. */
struct span {
    int64_t from_s;
    int64_t to_s;
};

/* A value must be among `with` (any value, if `with` is empty) and not among `without`. */
struct filter {
    const char **with;
    size_t with_count;
    const char **without;
    size_t without_count;
};

#define MIRE_FILTER_MAX 64

/*
 * A list "a,b,!c": with a and b, without c. A value with a comma, a backslash, or an exclamation mark in front has a
 * backslash before it: "iPhone15\\,2".
 *
 *   allowed  NULL-ended words, or NULL if any text goes
 * Also -1 for an empty word, one over 200 bytes, more than MIRE_FILTER_MAX of them, and when memory runs out.
 */
int filter_parse(struct filter *out, struct arena *arena, const char *text, const char *const *allowed);

/* Does it leave anything out? */
bool filter_is_set(const struct filter *filter);

/* Is a value among those that it wants? */
bool filter_wants(const struct filter *filter, const char *value);

/* Facets of events that the list of issues can be filtered by, besides version and kind. */
enum view_facet { VIEW_OS, VIEW_OS_VERSION, VIEW_MODEL, VIEW_CLASS, VIEW_CHANNEL, VIEW_FACETS };

extern const char *const view_facet_names[VIEW_FACETS];

struct view {
    int32_t app;
    struct span span;
    struct filter version;
    struct filter kind;  /* category of the issue */
    struct filter state; /* state of the issue */
    struct filter facets[VIEW_FACETS];
    const char **words; /* each, in any case, must stand in the texts or id */
    size_t word_count;
    int64_t now_us; /* wall clock of the question; 0: as it is */
    bool many;      /* the issue stands for others too, or for a part of itself only (issue_shown) */
};

/* Sums over the events of a view. */
struct totals {
    int64_t reports;
    double events;
    int64_t devices;
    double waited_ms;
    int64_t longest_ms;
};

#endif
