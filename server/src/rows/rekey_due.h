/*
 * rekey_due.h - statements of the thread that does the jobs of rekey.h: queue, claim, move, end. Every function runs
 * inside the caller's transaction and returns 0 or a fault unless it says otherwise.
 *
 *     symbol_arrival, rekey_job --queue--> rekey_queue --claim--> derive --move--> event, counters, issue
 *                                                                              --end--> gone_to
 *
 * Tables are locked in the order of derive.h, rows of one table by rising key. A transaction that changes issues, or
 * opens several, locks the row of their app first (rows_rekey_alone). So no deadlock is possible between two of them,
 * or between one of them and a worker that takes a new report.
 */
#ifndef MIRE_ROWS_REKEY_DUE_H
#define MIRE_ROWS_REKEY_DUE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_REKEY_ATTEMPTS_MAX 3 /* after so many a report stays unchanged */

/*
 * Queue more reports of an arrived debug file or of a job. 1: some were queued, 0: there is nothing to queue, below
 * zero a fault.
 *
 * Reports of a file are queued once every transaction has ended that may have worked on a report without seeing the
 * file. A later transaction sees the arrival (rows_symbol_arrivals) and looks for the file itself. Reports of a job are
 * queued once every transaction has ended that may have used the older rules; a later one asks for the app's version.
 */
int rows_rekey_queue(struct pg_tx *tx, struct arena *arena);

/* A stored report that is due. Texts and body live as long as the claim's rows; of one that is gone key, job and attempts are
 * known only. */
struct rekey_stored {
    int64_t job;
    bool preview;
    const char *rules; /* of the job; NULL: none */
    int attempts;      /* failed ones */
    int64_t stands;    /* reports that it stands for, with itself */
    bool misses;       /* it may lack another debug file now than before: not of a job of rules */
    struct report_key key;
    bool gone; /* the report, or its event, was deleted */
    int32_t app_id;
    int64_t received_us, occurred_us, issue_id, version_id;
    int32_t tree;
    const char *category; /* that it was counted in */
    int64_t subject_bytes;
    struct {
        bool unnamed; /* keyed by addresses */
        const char *caller1, *caller1_image, *caller2, *caller2_image;
    } issue; /* that the report is in */
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
    struct pg_rows *rows; /* that their texts and bodies are in; pg_rows_free */
};

/*
 * Claim reports of the next slot from `from_slot` on that has any, at least one; other transactions skip them until this
 * one ends. All are of one slot, so that they are on one machine where there are several. The events are locked by rising
 * key. A report that is due for two jobs may come twice. A preview comes before all other jobs, because somebody waits
 * for it.
 */
int rows_rekey_claim(struct rekey_claim *out, struct pg_tx *tx, struct arena *arena, const struct rekey_wish *wish);

/* Take reports out of the queue, each for its job. */
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
 * Let an issue without kept reports lead to another one, which takes its counters. 1: done, 0: it has reports, below
 * zero a fault.
 */
int rows_issue_leave(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

/* Lock the issues of an app against others of these transactions until this one ends. */
int rows_rekey_alone(struct pg_tx *tx, int32_t app_id);

/* The issue of a feature, as stored. */
struct rekey_issue {
    int64_t issue_id;
    int64_t first_seen_us;
    bool gone; /* it was emptied and leads to another issue */
};

/* 1 found, 0 there is none, below zero a fault. */
int rows_rekey_find(struct rekey_issue *out, struct pg_tx *tx, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN]);

/*
 * Give the key and names of `issue` to an issue that is keyed by addresses; number, state and first_seen stay. 1 done,
 * 0: the issue is not keyed by addresses, or has another key by now, below zero a fault.
 */
int rows_issue_rename(struct pg_tx *tx, int64_t issue_id, const struct issue_row *issue);

/* Copy the state of the issue `from` to one that was opened for its reports; and its first_seen if `unnamed` keys led
 * there. */
int rows_issue_inherit(struct pg_tx *tx, int64_t issue_id, int64_t from);

/*
 * Replace the stored events of reports and their stacks, unless they are what is stored already: most reports stay as they
 * were. event.rules_version is of the rules that changed the row last.
 *
 *   changed_out  set of the events that are others than before; false before
 *   documents    of the events
 */
int rows_events_move(bool *changed_out, struct pg_tx *tx, struct arena *arena, const struct event_row *const *events,
                     const struct pg_bytes *documents, size_t count);

/* Before new rows of these reports are stored: delete those of the modules that they lacked. */
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

/* Each flow, of a slot, a job, an issue before and a feature, once. */
int rows_rekey_count(struct pg_tx *tx, struct arena *arena, const struct rekey_step *steps, size_t count);

/*
 * Bring a job with an empty queue a step closer to its end. An emptied issue leads to the issue that got most of its
 * reports, which takes over the older first_seen and the counters of reports that are no longer stored. After the last
 * one, these issues get the state that most of their reports had. 1: a step was done, 0: no job is so far, below zero a
 * fault.
 */
int rows_rekey_end(struct pg_tx *tx, struct arena *arena);

#endif
