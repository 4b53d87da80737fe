/*
 * reports.h - the reports of an issue that are kept whole, and their stacks. Span and version apply. A report that is
 * counted only is found by its id alone.
 */
#ifndef MIRE_ROWS_REPORTS_H
#define MIRE_ROWS_REPORTS_H

#include "base/arena.h"
#include "base/id.h"
#include "model/context.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

struct report_row {
    struct uuid id;
    int64_t received_us, occurred_us, duration_ms;
    int64_t footprint_bytes, subject_bytes; /* -1: unknown, or not a memory report */
    bool open;
    bool kept; /* whole; false: counted only */
    const char *version, *os, *os_version, *arch, *model, *process, *category, *reason;
    char install[33];
};

/* A place in the list: behind the report that began then and has this id. */
struct report_place {
    int64_t after_us; /* 0: before the newest report */
    struct uuid after;
};

/* Newest first, at most `limit`. */
int rows_reports_read(struct report_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                      const struct view *view, int64_t issue, const struct report_place *from, int limit);

#define MIRE_REPORTS_LOOKED_AT 10000

struct report_wanted {
    bool has_user;
    uint8_t user_hash[MIRE_USER_HASH];
    const char *scene, *tag; /* "name=value"; "": any */
};

/*
 * The same of the reports that are wanted. Looks at MIRE_REPORTS_LOOKED_AT reports, of the user or else of the issue. If
 * fewer than `limit` of these are wanted, *end_out is the last one looked at, or has after_us 0 if there is none behind.
 * issue 0: of the app.
 */
int rows_reports_find(struct report_row **out, size_t *count, struct report_place *end_out, struct pg_tx *tx,
                      struct arena *arena, const struct view *view, int64_t issue, const struct report_wanted *wanted,
                      const struct report_place *from, int limit);

#define ROWS_REPORTS_COUNTED 10000

/* Reports of an issue that are kept; ROWS_REPORTS_COUNTED: that many or more. 0 or a fault. */
int rows_reports_kept_read(int64_t *out, struct pg_tx *tx, const struct view *view, int64_t issue);

enum rows_pick { ROWS_LATEST, ROWS_FIRST, ROWS_WORST, ROWS_BY_ID };

struct report_position {
    struct report_row row;
    int64_t position, total; /* among those kept */
    int64_t reports;         /* with those counted only */
    bool has_newer, has_older;
    struct uuid newer, older;
};

/* A report of an issue and its position among all. 0, READ_NONE or a fault. */
int rows_report_read(struct report_position *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     int64_t issue, enum rows_pick pick, const struct uuid *id);

/*
 * Hand the stacks of an issue's reports to `take`, newest first, at most `limit`; only those of the report `one` if it
 * is given. A report whose stacks were deleted has no bytes. `take` returns 0 to go on; any other value ends the call
 * and is its result: above zero to stop, below for a fault.
 */
typedef int (*read_take)(void *context, double weight, const void *bytes, size_t len);
int rows_stacks_read(struct pg_tx *tx, const struct view *view, int64_t issue, const struct uuid *one, int limit,
                     read_take take, void *context);

#endif
