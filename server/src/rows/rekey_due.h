/*
 * rekey_due.h - statements of the thread that does the jobs of rekey.h: queue, claim, move, end. Every function runs
 * inside the caller's transaction and returns 0 or a fault unless it says otherwise.
 *
 *     symbol_arrival, rekey_job --queue--> rekey_queue --claim--> derive --move--> event, counters, issue
 *                                                                              --end--> gone_to
 *
 * Tables are locked in the order of derive.h, rows of one table by rising key. A transaction that changes issues, or
 * opens several, locks the row of their app first (rows_rekey_alone). Therefore no deadlock is possible between two such
 * transactions, or with a worker that takes a new report.
 */
#ifndef MIRE_ROWS_REKEY_DUE_H
#define MIRE_ROWS_REKEY_DUE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_REKEY_ATTEMPTS_MAX 3 /* after this number a report stays unchanged */

/*
 * Queue more reports of an arrived debug file or of a job. 1: some were queued, 0: nothing to queue, below zero a
 * fault.
 *
 * Reports of a file are queued after the end of every transaction that may have processed a report without seeing the
 * file. Later transactions see the arrival (rows_symbol_arrivals) and look for the file themselves. Reports of a job
 * are queued after the end of every transaction that may have used the older rules; later ones read the app's version.
 */
int rows_rekey_queue(struct pg_tx *tx, struct arena *arena);

/* A stored report that is due. Texts and body live as long as the claim's rows. Of a deleted report only key, job and attempts
 * are known. */
struct rekey_stored {
    int64_t job;
    bool preview;
    const char *rules; /* of the job; NULL: none */
    int attempts;      /* failed ones */
    int64_t stands;    /* reports that the kept report stands for, including itself */
    bool misses;       /* the set of missing debug files may have changed: not in a job of rules */
    struct report_key key;
    bool gone; /* the report, or its event, was deleted */
    int32_t app_id;
    int64_t received_us, occurred_us, issue_id, version_id;
    int32_t tree;
    const char *category; /* in the counters */
    int64_t subject_bytes, above_bytes;
    struct {
        bool unnamed; /* keyed by addresses */
        const char *caller1, *caller1_image, *caller2, *caller2_image;
    } issue; /* of the report now */
    const char *format, *encoding;
    struct pg_bytes body;
    struct pg_bytes document; /* resolved stacks of an event of memory; otherwise empty */
};

struct rekey_wish {
    int16_t from_slot;
    int64_t most;      /* reports */
    int64_t max_bytes; /* of their bodies together */
};

struct rekey_claim {
    struct rekey_stored *stored; /* by rising key; in the arena */
    size_t count;
    struct pg_rows *rows; /* with the texts and bodies; pg_rows_free */
};

/*
 * Claim at least one report of the next slot with due reports, from `from_slot` on; other transactions skip these
 * reports until this one ends. All are of one slot, so that they are on one machine of several. The events are locked
 * by rising key. A report that is due for two jobs may appear twice. A preview comes before all other jobs, because a
 * person waits for its result.
 */
int rows_rekey_claim(struct rekey_claim *out, struct pg_tx *tx, struct arena *arena, const struct rekey_wish *wish);

/* Remove reports from the queue, each for its job. */
struct rekey_done {
    struct report_key key;
    int64_t job;
};
int rows_rekey_finish(struct pg_tx *tx, struct arena *arena, const struct rekey_done *done, size_t count);

/* Count a failed attempt. */
int rows_rekey_fail(struct pg_tx *tx, const struct rekey_stored *stored);

/* Count an attempt of a report in all its jobs. */
int rows_rekey_count_attempt(struct pg_tx *tx, const struct report_key *key);

/*
 * Let an issue without kept reports lead to another issue, which takes the counters. 1: done, 0: the issue has reports,
 * below zero a fault.
 */
int rows_issue_leave(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

/* Lock the issues of an app against other such transactions until this one ends. */
int rows_rekey_alone(struct pg_tx *tx, int32_t app_id);

/* The issue of a feature, as stored. */
struct rekey_issue {
    int64_t issue_id;
    int64_t first_seen_us;
    bool gone; /* the issue was emptied and leads to another one */
};

/* 1 found, 0 not found, below zero a fault. */
int rows_rekey_find(struct rekey_issue *out, struct pg_tx *tx, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN]);

/*
 * Give the key and names of `issue` to an issue that is keyed by addresses; number, state and first_seen stay. 1 done,
 * 0: the issue is not keyed by addresses, or has another key by now, below zero a fault.
 */
int rows_issue_rename(struct pg_tx *tx, int64_t issue_id, const struct issue_row *issue);

/* Copy the state of the issue `from` to an issue that was opened for its reports; and first_seen if the reports came by
 * `unnamed` keys. */
int rows_issue_inherit(struct pg_tx *tx, int64_t issue_id, int64_t from);

/*
 * Replace the stored events of reports and their stacks if they differ: most reports do not change. event.rules_version
 * is of the rules that changed the row last.
 *
 *   changed_out  set to true for each changed event; false before the call
 *   documents    of the events
 */
int rows_events_move(bool *changed_out, struct pg_tx *tx, struct arena *arena, const struct event_row *const *events,
                     const struct pg_bytes *documents, size_t count);

/* Delete the rows of missing debug files of these reports, before new ones are stored. */
struct rows_missing;
int rows_missing_debug_forget(struct pg_tx *tx, struct arena *arena, const struct rows_missing *reports, size_t count);

/* Count the outcome of reports: the issue they moved to, or failures. to_issue 0: the issue is not opened yet. */
struct rekey_step {
    int64_t job;
    int16_t slot;
    int64_t from_issue, to_issue;
    const struct issue_row *to; /* its feature */
    int64_t reports, failed;
};

/* Each flow (slot, job, previous issue, feature) once. */
int rows_rekey_count(struct pg_tx *tx, struct arena *arena, const struct rekey_step *steps, size_t count);

/*
 * Take the next step to the end of a job with an empty queue. An emptied issue leads to the issue that got most of its
 * reports, which takes over the older first_seen and the counters of reports that are no longer stored. After the last
 * emptied issue, these issues get the state of most of their reports. 1: a step was done, 0: no job has an empty queue,
 * below zero a fault.
 */
int rows_rekey_end(struct pg_tx *tx, struct arena *arena);

#endif
