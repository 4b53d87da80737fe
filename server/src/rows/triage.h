/*
 * triage.h - states, assignees and comments of issues, each change written as an act (issue_act).
 */
#ifndef MIRE_ROWS_TRIAGE_H
#define MIRE_ROWS_TRIAGE_H

#include "base/arena.h"
#include "model/view.h"
#include "pg/pg.h"

enum triage_outcome { TRIAGE_DONE = 0, TRIAGE_NONE = 1, TRIAGE_MOVED = 2 };

struct triage_change {
    int32_t app;
    const char *who, *why;
    const char *state;    /* open, resolved, ignored; NULL: unchanged */
    const char *version;  /* version with the fix, or until which the issue is ignored; "" */
    int64_t for_s;        /* ignore for so many seconds; 0: no such condition */
    int64_t devices;      /* ignore until so many devices had it; 0: no such condition */
    double per_1000;      /* ignore until so many hits per 1,000 sessions; 0: no such condition */
    const char *assignee; /* "": nobody; NULL: unchanged */
};

/*
 * Change several issues in one batch, whose number is stored in *batch_out. TRIAGE_DONE, TRIAGE_NONE (an issue is not
 * the app's; the caller rolls back), or a fault.
 */
int rows_triage_set(int64_t *batch_out, struct pg_tx *tx, const struct triage_change *change, const int64_t *issues,
                    size_t count);

/* Undo a batch. TRIAGE_DONE with its issues in *issues_out, TRIAGE_NONE (there is none, or it was undone), TRIAGE_MOVED
 * (an issue was changed since), or a fault. */
int rows_triage_undo(int64_t **issues_out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                     int64_t batch, const char *who);

/* The facts of a new report that may reopen its issue. */
struct triage_report {
    int64_t issue; /* of its key */
    int32_t tree;
    const char *version;
};

/*
 * Reopen issues of new reports that were resolved in an earlier version, or ignored until one of these versions. One
 * statement for all reports; it locks the rows of the reopened issues by rising number. 0 or a fault.
 */
int rows_triage_seen(struct pg_tx *tx, struct arena *arena, int32_t app, const struct triage_report *reports,
                     size_t count);

/* An ignored issue with a condition that upkeep checks. */
struct triage_waiting {
    int32_t app;
    int64_t issue;
    bool is_over; /* the time until which it is ignored has passed */
    int64_t since_us, until_devices;
    double until_per_1000; /* 0: no such condition */
};

/* All ignored issues with a condition. 0 or a fault. */
int rows_triage_waiting(struct triage_waiting **out, size_t *count, struct pg_tx *tx, struct arena *arena);

/* The estimated number of devices with the issue since since_us. 0 or a fault. */
int rows_triage_devices(double *out, struct pg_tx *tx, const struct triage_waiting *waiting);

/* Hits per 1,000 sessions of today and yesterday, and the reports behind the rate. 0 or a fault. */
int rows_triage_rate(double *per_1000_out, int64_t *reports_out, struct pg_tx *tx,
                     const struct triage_waiting *waiting);

/* Reopen an issue whose condition is met; `why` names the condition. 0 or a fault. */
int rows_triage_return(struct pg_tx *tx, int64_t issue, const char *why);

/* Add a comment. 0 or a fault. */
int rows_comment_add(int64_t *act_out, struct pg_tx *tx, int32_t app, int64_t issue, const char *who, const char *text);

/* Remove a comment of this person; NULL: of anyone. TRIAGE_DONE, TRIAGE_NONE, or a fault. */
int rows_comment_remove(struct pg_tx *tx, int32_t app, int64_t issue, int64_t act, const char *who, const char *by);

/* Names of people who may see the app, in order. 0 or a fault. */
int rows_assignees_read(const char ***out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* The app's newest version by the natural order; "" if it has none. 0 or a fault. */
int rows_newest_version(const char **out, struct pg_tx *tx, struct arena *arena, int32_t app);

#endif
