/*
 * devices.h - estimates of the devices behind events. All filters of the view apply.
 */
#ifndef MIRE_ROWS_DEVICES_H
#define MIRE_ROWS_DEVICES_H

#include "base/arena.h"
#include "model/devices.h"
#include "model/view.h"

struct pg_tx;

enum rows_group { ROWS_BY_CALLER1, ROWS_BY_CATEGORY, ROWS_BY_PLACE }; /* place: Caller1 in Caller2 */

/* Cells of devices are dropped with reports, earlier than counters. */
struct kept {
    struct devices devices;
    int64_t oldest_us, newest_us; /* when events happened; 0: none */
};

/*
 * Count the devices of every issue, group and all.
 *
 *   issues  only these; issue_count 0: all that match the view
 *
 * Exact up to 256, then off by less than 5 % in 95 of 100 cases (rollup/distinct.h). 0 or a fault.
 */
int rows_devices_read(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      enum rows_group by, const int64_t *issues, size_t issue_count);

struct faceted;

/* The same of the devices of these issues, from their sketches. Kind, state and words of the view apply. */
int rows_faceted_devices(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                         enum rows_group by, const struct faceted *faceted);

/* The devices of all of an app's events into out->devices.total, and when these happened. Span, kinds and versions of the view
 * apply; kinds are those of the events. *out is added to. 0 or a fault. */
int rows_devices_of_app(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view);

#endif
