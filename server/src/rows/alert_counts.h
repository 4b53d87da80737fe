/*
 * alert_counts.h - the counts that alerts judge, besides sessions (rows/rates.h).
 */
#ifndef MIRE_ROWS_ALERT_COUNTS_H
#define MIRE_ROWS_ALERT_COUNTS_H

#include "base/arena.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

/* Devices on which an issue happened for the first time on that day. */
struct fresh_devices {
    int64_t issue; /* as it is shown */
    const char *title;
    bool memory;
    int64_t first_us; /* when the issue first happened */
    int32_t day;
    int64_t seen;
    double sum, variance; /* of the weights w, and of w (w - 1) */
};

/* Of issues of the view whose first event is in it, by issue and day. */
int rows_fresh_devices_read(struct fresh_devices **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view);

/* Reports of an issue, or of all, in one of the windows of `window_s` that end at `end_us`: the last is number 0. */
struct window_reports {
    int64_t issue; /* 0: all */
    const char *title;
    bool memory;
    int64_t window;
    double reports;
};

/* All together. Honours app, span, version and kind. By falling number. */
int rows_window_reports_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                             const struct view *view, int64_t end_us, int32_t window_s);

/* By issue, of those that have `least` reports in one of the last `recent` windows. By issue and falling number. */
int rows_window_issues_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view, int64_t end_us, int32_t window_s, int64_t recent, int64_t least);

/* Reports of a day, and of those the ones whose issue has an address where a name should be. */
struct unnamed_reports {
    int32_t day;
    double reports, unnamed;
};
int rows_unnamed_reports_read(struct unnamed_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                              const struct view *view);

#endif
