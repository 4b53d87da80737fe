/*
 * alert_counts.h - the counts that alerts judge, except sessions (rows/rates.h).
 */
#ifndef MIRE_ROWS_ALERT_COUNTS_H
#define MIRE_ROWS_ALERT_COUNTS_H

#include "base/arena.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

/* An issue that was resolved, and of which a report of a later version came. */
struct regressed_issue {
    int64_t issue;
    const char *title;
    bool memory;
    const char *version; /* in which it came back; "" if none is known */
    int64_t at_us;       /* when it came back */
};

/* The newest first, at most 200. Honours app and kind. */
int rows_regressed_issues_read(struct regressed_issue **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view);

/* Devices that had an issue for the first time on a day. */
struct fresh_devices {
    int64_t issue; /* as it is shown */
    const char *title;
    bool memory;
    int64_t first_us; /* when the issue first happened */
    int32_t day;
    int64_t seen;
    double sum, variance; /* of the weights w, and of w (w - 1) */
};

/* By issue and day, for issues whose first event is in the view. */
int rows_fresh_devices_read(struct fresh_devices **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view);

/*
 * Reports of an issue, or of all, in a window of `window_s` seconds. Window 0 ends at `end_us`, window 1 before it ...
 */
struct window_reports {
    int64_t issue; /* 0: all */
    const char *title;
    bool memory;
    int64_t window;
    double reports;
};

/* All issues together, by falling window. App, span, version and kind apply. */
int rows_window_reports_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                             const struct view *view, int64_t end_us, int32_t window_s);

/* Issues with at least `least` reports in one of the last `recent` windows, by issue and falling window. */
int rows_window_issues_read(struct window_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view, int64_t end_us, int32_t window_s, int64_t recent, int64_t least);

/* Reports of a day, and those of issues that are named by an address. */
struct unnamed_reports {
    int32_t day;
    double reports, unnamed;
};
int rows_unnamed_reports_read(struct unnamed_reports **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                              const struct view *view);

#endif
