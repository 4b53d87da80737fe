/*
 * totals.h - sums of an app's counters: totals, versions, kinds, turns. App, span, version and kind of the view apply.
 */
#ifndef MIRE_ROWS_TOTALS_H
#define MIRE_ROWS_TOTALS_H

#include "base/arena.h"
#include "model/view.h"

struct pg_tx;

struct facet_value {
    const char *key;
    int64_t reports;
    double events;
};

struct version_row {
    const char *version;
    int64_t first_us;
    struct totals totals; /* devices: not counted */
};

struct point {
    const char *version;
    int64_t at_s;
    double events, waited_ms;
};

struct turn {
    int64_t from_ms;
    double turns;
};

/* Turns of watched loops by length, shortest first; at most MIRE_TURN_BUCKETS. App, span and version apply. */
int rows_turns_read(struct turn **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view);

enum rows_facet { ROWS_BY_VERSION, ROWS_BY_KIND, ROWS_BY_STATE };

/* Most reports first. */
int rows_facet_values_read(struct facet_value **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                           const struct view *view, enum rows_facet facet);

/* All sums of a view. */
struct sums {
    struct totals totals;      /* devices: not counted */
    int64_t first_hour_us;     /* of the oldest counter; 0: none */
    struct facet_value *kinds; /* most reports first */
    size_t kind_count;
    struct version_row *versions; /* newest first: by first report, then by the natural order */
    size_t version_count;
    struct point *points; /* buckets of bucket_s, the versions with most events first, each version's in order */
    size_t point_count;
};

int rows_sums_read(struct sums *out, struct pg_tx *tx, struct arena *arena, const struct view *view, int bucket_s);

/* Events of a version by kind. */
struct kind_row {
    const char *kind, *version;
    double events;
};

/* By kind, then by version, of every version; `versions` counts those with sessions. */
int rows_version_kinds_read(struct kind_row **out, size_t *count, int64_t *versions, struct pg_tx *tx,
                            struct arena *arena, const struct view *view);

/* The points of one issue, as in struct sums. */
int rows_series_read(struct point **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     int64_t issue, int bucket_s);

#endif
