/*
 * forget.h - the rows of jobs that forget reports: all of an installation, all sent with a key, or one report.
 *
 *     rows_forget_ask --> forget_job --rows_forget_queue--> forget_queue --rows_forget_claim--> forget/counters.h
 *                                                                                         --> rows_forget_delete
 *
 * forget/forget.h deletes the reports in the background. Every function runs inside the caller's transaction and
 * returns 0 or a fault unless its comment says otherwise.
 */
#ifndef MIRE_ROWS_FORGET_H
#define MIRE_ROWS_FORGET_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/* A request: one of install, key and report is given. */
struct forget_ask {
    int32_t app_id;
    struct pg_bytes install;    /* 16 bytes; len 0: not given */
    int64_t key;                /* 0: not given */
    const struct uuid *report;  /* NULL: not given */
    int64_t since_us, until_us; /* received in [since, until); INT64_MIN and INT64_MAX: open */
    const char *author, *reason;
};

/* The reports that are stored now. The installation of a report in the inbox is not known yet. */
struct forget_found {
    int64_t reports; /* of every kind */
    double events;   /* events that the reports stand for */
    double sessions; /* sessions that session records stand for */
    int64_t inbox;   /* reports of the app that wait */
};
int rows_forget_count(struct forget_found *out, struct pg_tx *tx, const struct forget_ask *ask);

/* Add a job. It begins when the transaction is committed. */
int rows_forget_ask(int64_t *job_out, struct pg_tx *tx, const struct forget_ask *ask);

/* The progress of a job. Texts live as long as `rows`. */
struct forget_job {
    int64_t job;
    const char *what, *of; /* "install", "key" or "report", and its name */
    const char *author, *reason, *state;
    int64_t asked_us, ended_us; /* 0: not ended */
    int64_t queued, done;
};

/* Jobs of an app, newest first, at most `most`. */
int rows_forget_jobs(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id, int64_t most);
void rows_forget_read(struct forget_job *out, const struct pg_rows *rows, size_t row);

/* Queue the reports of a job, or end one that has none left. 1: something was done, 0: there is nothing to do, below
 * zero a fault. A job ends when no report that came before it waits in the inbox. */
int rows_forget_queue(struct pg_tx *tx);

/* A stored report of a job. Texts and body live as long as the rows. */
struct forget_stored {
    int64_t job;
    struct report_key key;
    int32_t app_id;
    int64_t received_us, occurred_us;
    const char *format, *encoding;
    struct pg_bytes body;
    bool clock_known;
    int64_t clock_behind_ms;
    bool is_there;   /* the report's bytes are stored */
    bool is_counted; /* rows were derived from the report: the members below */
    int64_t version_id, issue_id;
    int32_t tree;
    const char *category; /* "": the report belongs to no issue */
    int64_t subject_bytes, above_bytes;
    double weight;
    const char *channel, *device_class; /* that a session, or a baseline, counted in; otherwise "" */
    struct pg_bytes document;           /* resolved stacks */
};

#define MIRE_FORGET_BATCH 32 /* reports */

/* Claim reports of one job, each once, and lock the rows derived from them; waits for workers that hold one of these.
 * *rows_out has the texts. */
int rows_forget_claim(struct forget_stored **out, size_t *count, struct pg_rows **rows_out, struct pg_tx *tx,
                      struct arena *arena);

/* Delete the rows that were derived from claimed reports. */
int rows_forget_derived(struct pg_tx *tx, struct arena *arena, const struct forget_stored *stored, size_t count);

/* Delete the reports, their places in the queues, and their part of the issues' first_seen. */
int rows_forget_delete(struct pg_tx *tx, struct arena *arena, const struct forget_stored *stored, size_t count);

#endif
