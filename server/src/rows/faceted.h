/*
 * faceted.h - the figures of issues from the devices, systems or channels that a view wants (view->facets).
 *
 *     model Pixel 7              the cells' sums by model: every event of the span
 *     model Pixel 7, Android 14  the newest MIRE_NEWEST_EVENTS of these events: no cell tells two facets together
 */
#ifndef MIRE_ROWS_FACETED_H
#define MIRE_ROWS_FACETED_H

#include "base/arena.h"
#include "model/view.h"
#include "pg/pg.h"
#include "rows/rollup_read.h"
#include "rows/rows.h"
#include "rows/totals.h"

struct faceted_issue {
    int64_t issue;          /* as it is shown */
    struct totals totals;   /* devices: not counted */
    struct pg_bytes sketch; /* of the devices */
    int64_t oldest_us, newest_us;
    double trend[MIRE_TREND_PARTS]; /* a cell's events are spread evenly over its hours */
};

struct faceted {
    size_t count;
    struct faceted_issue *list; /* by issue, rising; those with no such event are not in it */
    int64_t read_since_us;      /* 0: all events of the span; otherwise the oldest of the newest MIRE_NEWEST_EVENTS */
    double sessions;            /* of one facet; 0: none, or not known of two together */
    int64_t others;             /* reports whose value is beyond MIRE_CELL_VALUES, and is not told apart */
};

/* Does the view want some of these facets? */
bool rows_is_faceted(const struct view *view);

/* All issues of the app; span and version are honoured, and kind by the newest events. In the arena. 0 or a fault. */
int rows_faceted_read(struct faceted *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* The values of a facet that the app's events have in the view, most events first. 0 or a fault. */
int rows_faceted_values_read(struct facet_value **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                             const struct view *view, enum view_facet facet);

/* Events of these issues together, in each part of the span. */
void faceted_trend(double trend[MIRE_TREND_PARTS], const struct faceted *faceted, const int64_t *issues, size_t count);

/* An issue's row, or NULL. */
const struct faceted_issue *faceted_find(const struct faceted *faceted, int64_t issue);

#endif
