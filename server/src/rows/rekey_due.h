/*
 * rekey_due.h - the statements of those who do the jobs of rekey.h: queueing, claiming, moving, ending. Every function
 * runs inside the caller's transaction and returns 0 or a fault unless it says otherwise.
 *
 *     symbol_arrival, rekey_job --queue--> rekey_queue --claim--> derive --move--> event, counters, issue
 *                                                                              --end--> gone_to
 *
 * Rows are locked in the order of derive.h, those of one table by rising key; who changes issues, or opens several, has
 * the row of their app first (rows_rekey_alone). So neither two of them nor one of them and a worker that takes
 * a new report wait for each other in a circle.
 */
#ifndef MIRE_ROWS_REKEY_DUE_H
#define MIRE_ROWS_REKEY_DUE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_REKEY_ATTEMPTS_MAX 3 /* then a report stays as it is */

/*
 * Queue more reports, of files that came or of a job. 1: something was done, 0: there is nothing to queue, below zero a
 * fault.
 *
 * The reports of a file are queued once every transaction has ended that may have worked on one without seeing the
 * file: what began later counted its arrival (rows_symbol_arrivals) and looked. The reports of a job, once every
 * transaction has ended that may have worked on one by the rules before: what began later asked for the app's version.
 */
int rows_rekey_queue(struct pg_tx *tx);

/* A report that is due, as it is stored. Texts and body live as long as the rows. */
struct rekey_stored {
    int64_t job;
    bool preview;
    const char *rules; /* of the job; NULL: none */
    int attempts;      /* that failed */
    struct report_key key;
    bool gone; /* the report, or what was derived of it, is not there any more */
    int32_t app_id;
    int64_t received_us, occurred_us, issue_id, version_id;
    int32_t tree;
    const char *category; /* in which it was counted */
    int64_t subject_bytes;
    struct {
        bool unnamed; /* keyed by addresses */
        const char *caller1, *caller1_image, *caller2, *caller2_image;
    } issue; /* the one it is in */
    const char *format, *encoding;
    struct pg_bytes body;
    struct pg_bytes document; /* resolved stacks, of a report of memory; else empty */
};

/*
 * Claim up to `most` reports on slot `from_slot` and behind it; other transactions pass over them until this one ends.
 * The events are locked, by rising key. A report that is due for two jobs may come twice.
 */
int rows_rekey_claim(struct pg_rows **rows_out, struct pg_tx *tx, int16_t from_slot, int64_t most);
void rows_rekey_read_stored(struct rekey_stored *out, const struct pg_rows *rows, size_t row);

/* It is done, or will not be tried again; or it failed once more. */
int rows_rekey_finish(struct pg_tx *tx, const struct rekey_stored *stored);
int rows_rekey_fail(struct pg_tx *tx, const struct rekey_stored *stored);

/* Count an attempt of a report for whatever job it is due. */
int rows_rekey_count_attempt(struct pg_tx *tx, const struct report_key *key);

/* No other such transaction changes the app's issues until this one ends. */
int rows_rekey_alone(struct pg_tx *tx, int32_t app_id);

/* The issue of a feature. */
struct rekey_issue {
    int64_t issue_id;
    int64_t first_seen_us;
    bool gone; /* it leads to another */
};

/* 1 found, 0 there is none, below zero a fault. */
int rows_rekey_find(struct rekey_issue *out, struct pg_tx *tx, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN]);

/*
 * Give an issue that is keyed by addresses the key of `issue`, with its names; number, state and first_seen stay. 1
 * done, 0: it is not such an issue, or has another key by now, below zero a fault.
 */
int rows_issue_rename(struct pg_tx *tx, int64_t issue_id, const struct issue_row *issue);

/* An issue that was just opened for reports of another one: it takes over the state and, if `unnamed` keys led there,
 * when it was first seen. */
int rows_issue_inherit(struct pg_tx *tx, int64_t issue_id, int64_t from);

/* What a report is now, in place of what was stored. */
int rows_event_move(struct pg_tx *tx, const struct event_row *event);
int rows_missing_debug_forget(struct pg_tx *tx, const struct report_key *key);

/* After reports were taken away from a counter: the longest and newest of those that are left; none: the row goes. */
int rows_version_hour_settle(struct pg_tx *tx, const struct hour_row *hour);
int rows_issue_hour_settle(struct pg_tx *tx, const struct hour_row *hour);

/* Count what became of a report: where it went, or that it could not be derived. to_issue 0: there is none yet. */
struct rekey_step {
    int64_t job;
    int16_t slot;
    int64_t from_issue, to_issue;
    const struct issue_row *to; /* its feature */
    bool failed;
};

int rows_rekey_count(struct pg_tx *tx, const struct rekey_step *step);

/*
 * Bring a job that has nothing queued a step closer to its end: an issue that it emptied leads to where most of its
 * reports went, which takes over the older first_seen and what counters of older reports were left; after the last one
 * such issues get the state that most of their reports had. 1: something was done, 0: no job has come so far, below
 * zero a fault.
 */
int rows_rekey_end(struct pg_tx *tx, struct arena *arena);

#endif
