/*
 * devices.h - estimates of the devices behind events. All filters of the view apply.
 */
#ifndef MIRE_ROWS_DEVICES_H
#define MIRE_ROWS_DEVICES_H

#include "base/arena.h"
#include "model/devices.h"
#include "model/view.h"

struct pg_tx;

/* With more reports than this, devices are counted from a share of the identifiers. */
#define MIRE_DEVICES_EXACT 1000000

enum rows_group { ROWS_BY_CALLER1, ROWS_BY_CATEGORY, ROWS_BY_PLACE }; /* place: Caller1 in Caller2 */

/* From the stored reports, which may be dropped earlier than their counters. */
struct kept {
    struct devices devices;
    int64_t oldest_us, newest_us; /* receipt; 0: none */
};

/*
 * Count the devices of every issue, group and all.
 *
 *   issues   only these; issue_count 0: all that match the view
 *   reports  the number that the counters have; it decides between exact and scaled
 */
int rows_devices_read(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      enum rows_group by, const int64_t *issues, size_t issue_count, int64_t reports);

#endif
