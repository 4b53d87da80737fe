/*
 * derive.h - stores what was derived of a report. Every function runs inside the worker's transaction and returns 0 or
 * a fault.
 */
#ifndef MIRE_ROWS_DERIVE_H
#define MIRE_ROWS_DERIVE_H

#include "model/rows.h"
#include "pg/pg.h"

/* Number of a version of an app; adds it if it is new. `version` and `build` are given with their lengths. */
int rows_version(int64_t *version_id_out, struct pg_tx *tx, int32_t app_id, struct pg_bytes version,
                 struct pg_bytes build, int64_t seen_us);

/* The issue of the row's feature: 1 found, 0 there is none, below zero a fault. It has an event of the row's
 * first_seen_us from now on. */
int rows_issue_find(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue);

/* It gets an event of that time: it leads nowhere else, and was not first seen later. */
int rows_issue_take(struct pg_tx *tx, int64_t issue_id, int64_t occurred_us, int64_t version_id);

/* Open an issue, or find the one another transaction opened meanwhile. */
int rows_issue_open(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue);

/*
 * Issues that differ in nothing but the scene, without those that lead to others: the oldest, and how many. None where
 * somebody took one of them out of the others again. The caller holds the app's row (rows_alias_begin).
 */
int rows_issue_scenes(int64_t *first_out, int64_t *count_out, struct pg_tx *tx, int32_t app_id,
                      const uint8_t blame[MIRE_FEATURE_KEY_LEN]);

#define MIRE_JOINED_BY "mire" /* the author of such rows of issue_alias */

/* Show an issue as another one, or as what that one is shown as, if it never was shown as any. The caller holds the
 * app's row. */
int rows_issue_join(struct pg_tx *tx, int32_t app_id, int64_t issue_id, int64_t into);

/* Store an event. *new_out: it was not there yet; only then may it be counted. */
int rows_event_store(bool *new_out, struct pg_tx *tx, const struct event_row *event);

/*
 * Store the modules that have no debug file, and which report misses them; those with lines alone miss none.
 *
 *   missing  by rising build id, each once: workers that store new ones wait for each other in one order
 */
int rows_images_store(struct pg_tx *tx, const struct missing_debug_row *missing, size_t count);
int rows_missing_debug_store(struct pg_tx *tx, const struct report_key *key, int32_t app_id,
                             const struct missing_debug_row *missing, size_t count);

/* Store its resolved stacks, in place of earlier ones. */
int rows_stack_store(struct pg_tx *tx, const struct report_key *key, struct pg_bytes document);

/* Add one report to version_hour, issue_hour, turn_hour and arrival_day. The rows are locked until commit, always in
 * this order. */
int rows_hour_add(struct pg_tx *tx, const struct hour_row *hour);

/* Parts of that: so many reports, less than none to take them away. */
int rows_version_hour_add(struct pg_tx *tx, const struct hour_row *hour, int64_t reports);
int rows_issue_hour_add(struct pg_tx *tx, const struct hour_row *hour, int64_t reports);

/* A record that came so late: its kind is "event" or "session", its delay a bucket; nothing if that is not known. */
struct rows_arrival {
    int16_t slot;
    int32_t day; /* in which it happened */
    int32_t app_id;
    const char *kind;
    int delay;
    double events;
};
int rows_arrival_add(struct pg_tx *tx, const struct rows_arrival *arrival);

/* Add what a report lost to loss_day; nothing if it tells of no loss. After every other row of the report. */
int rows_loss_add(struct pg_tx *tx, const struct loss_row *loss);

#endif
