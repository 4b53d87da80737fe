/*
 * doctor.h - facts for `mired doctor` from the database. Reads, and writes nothing.
 */
#ifndef MIRE_ROWS_DOCTOR_H
#define MIRE_ROWS_DOCTOR_H

#include "pg/pg.h"

struct doctor_rows {
    int server_version;                     /* 150004 */
    int64_t clock_us;                       /* of the database */
    int64_t waiting, oldest_s;              /* in the inbox */
    int64_t stuck;                          /* of those, reports that failed before */
    int64_t dead_letters, dead_letters_day; /* all, and those of the last day */
    int64_t partition_days;                 /* days from today on that have a partition */
    int64_t days_due,
        rows_due;         /* days that retention drops from now on, and their reports, by the planner's estimate */
    int64_t default_rows; /* reports of two hours ago and earlier whose day has no partition */
    int64_t database_bytes;
    int64_t keys_ending; /* valid keys that expire within two weeks */
    int64_t apps, keys;  /* apps, and valid keys of scope ingest */
    int64_t reports_day; /* received in the last day */
    int64_t missing;     /* debug files that reports miss */
    int64_t unvacuumed;  /* dead rows of the inbox, the busiest table */
    int64_t statement_s; /* the longest time that a statement has run for now, seconds */
};

/* keep_days: how long reports are kept; 0: for ever. 0 or a fault. */
int rows_doctor_read(struct doctor_rows *out, struct pg_tx *tx, int64_t keep_days);

#endif
