/*
 * rekey.h - jobs that derive stored reports again. A change of rules, keys or debug files asks for a job;
 * rekey/rekey.h does it in the background.
 *
 *     a debug file came  --> rows_symbol_arrived --.
 *     rules changed      --> rows_rekey_ask -------+--> rekey_job --> rekey_queue --> batches --> rekey_flow
 *     keys changed       --> rows_rekey_ask -------'      a row a job   a report a row              moves
 *
 * A preview goes the same way and changes nothing but rekey_flow. It derives exemplars: some reports of each issue that the
 * app's newest reports are in. Every function runs inside the caller's transaction
 * and returns 0 or a fault.
 */
#ifndef MIRE_ROWS_REKEY_H
#define MIRE_ROWS_REKEY_H

#include "pg/pg.h"

struct rekey_ask {
    int32_t app_id;     /* the app of the reports */
    const char *cause;  /* "rules" or "key"; rows_symbol_arrived makes jobs of the cause "symbols" */
    const char *detail; /* the change, for people */
    const char *rules;  /* for a preview: a draft in place of the app's rules; NULL: the app's rules */
    bool preview;       /* count the moves only, and change nothing */
};

/* Ask for a job. It begins when the transaction commits, and uses the rules and debug files of that time. */
int rows_rekey_ask(int64_t *job_out, struct pg_tx *tx, const struct rekey_ask *ask);

/* The progress of a job. Texts live as long as `rows`. */
struct rekey_job {
    int64_t job;
    int32_t app_id; /* whose reports they are */
    const char *cause;
    const char *detail;
    const char *state; /* "queueing", "running", "done", "cancelled" */
    bool preview;
    int64_t created_us, ended_us;    /* 0: not ended */
    int64_t queued;                  /* reports so far; of a preview those that its exemplars stand for */
    int64_t exemplars;               /* of a preview: reports that are derived; otherwise 0 */
    int64_t done;                    /* of `queued`: derived again */
    int64_t moved;                   /* of `done`: to another issue */
    int64_t failed;                  /* of `done`: unchanged, because they could not be derived */
    int64_t issues_new, issues_gone; /* of a preview: would appear, would be left without a report */
};

/* Jobs of an app, newest first, at most `most`; app_id 0: all jobs. */
int rows_rekey_jobs(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id, int64_t most);
int rows_rekey_job(struct pg_rows **rows_out, struct pg_tx *tx, int64_t job); /* one row, or none */
void rows_rekey_read(struct rekey_job *out, const struct pg_rows *rows, size_t row);

/* Reports that a job moved, or would move, from one issue to another; most first. */
struct rekey_flow {
    int64_t from_issue, to_issue; /* to_issue 0: not opened yet */
    const char *from_caller1, *caller1, *caller2, *category, *reason;
    int64_t reports;
};

int rows_rekey_flows(struct pg_rows **rows_out, struct pg_tx *tx, int64_t job, int64_t most);
void rows_rekey_read_flow(struct rekey_flow *out, const struct pg_rows *rows, size_t row);

/* A debug file of this build id has arrived: derive the reports of the app again that lack it; app_id 0: of every app. */
int rows_symbol_arrived(struct pg_tx *tx, int32_t app_id, struct pg_bytes build_id);

#endif
