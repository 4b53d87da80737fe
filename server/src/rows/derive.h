/*
 * derive.h - stores what the stages derived from a report. Every function runs inside the worker's transaction and
 * returns 0 or a fault.
 */
#ifndef MIRE_ROWS_DERIVE_H
#define MIRE_ROWS_DERIVE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

/* The number of a version of an app; a new version is added. `version` and `build` are given with their lengths. */
int rows_version(int64_t *version_id_out, struct pg_tx *tx, int32_t app_id, struct pg_bytes version,
                 struct pg_bytes build, int64_t seen_us);

/*
 * Find the issue of the row's feature, and count an event at first_seen_us in it. 1 found, 0 there is none, below zero
 * a fault.
 */
int rows_issue_find(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue);

/* Count an event of that time in an issue: the issue leads nowhere else, and its first_seen is not later. */
int rows_issue_take(struct pg_tx *tx, int64_t issue_id, int64_t occurred_us, int64_t version_id);

/* Open an issue, or find the one that another transaction has opened meanwhile. */
int rows_issue_open(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue);

/*
 * Of the issues that differ only in the scene, and lead to no other: the oldest one, and their number. None if a person
 * took one of them out of the group. The caller holds the app's row (rows_alias_begin).
 */
int rows_issue_scenes(int64_t *first_out, int64_t *count_out, struct pg_tx *tx, int32_t app_id,
                      const uint8_t blame[MIRE_FEATURE_KEY_LEN]);

#define MIRE_JOINED_BY "mire" /* the author of issue_alias rows made by rows_issue_join */

/*
 * Show an issue as `into`, or as the issue that `into` is shown as, unless it was ever shown as another. The caller
 * holds the app's row.
 */
int rows_issue_join(struct pg_tx *tx, int32_t app_id, int64_t issue_id, int64_t into);

/* Find several issues by feature. */
struct rows_issue_found {
    int64_t issue_id; /* 0: there is none */
    int64_t first_seen_us;
    bool gone; /* it leads to another */
};
int rows_issues_find(struct rows_issue_found *out, struct pg_tx *tx, int32_t app_id, const struct pg_bytes *keys,
                     size_t count);

/* rows_issue_take for several issues, each once. */
struct rows_taken {
    int64_t issue_id, version_id;
    int64_t occurred_us;
};
int rows_issues_take(struct pg_tx *tx, struct arena *arena, const struct rows_taken *taken, size_t count);

/* The numbers of several versions of an app; 0: there is no row. */
int rows_versions_find(int64_t *ids_out, struct pg_tx *tx, int32_t app_id, const char *const *versions,
                       const char *const *builds, size_t count);

/* Which reports have a row already? They must not be stored or counted again. */
enum rows_table { ROWS_OF_EVENTS, ROWS_OF_SESSIONS, ROWS_OF_BASELINES };
int rows_stored(bool *stored_out, struct pg_tx *tx, struct arena *arena, enum rows_table table,
                const struct report_key *keys, size_t count);

/* Store events that have no row yet. */
int rows_events_store(struct pg_tx *tx, const struct event_row *events, size_t count);

/* Store modules without a debug file; a module that only lacks lines is not stored.
 *   missing  by rising build id, so that workers lock new rows in one order */
int rows_images_store(struct pg_tx *tx, const struct missing_debug_row *missing, size_t count);

/* Store the missing modules of reports: by rising build id, each once a report. */
struct rows_missing {
    struct report_key key;
    int32_t app_id;
    const struct missing_debug_row *rows;
    size_t count;
};
int rows_missing_debug_store(struct pg_tx *tx, struct arena *arena, const struct rows_missing *reports, size_t count);

/* Store the resolved stacks of new events. */
struct rows_stack {
    struct report_key key;
    struct pg_bytes document;
};
int rows_stacks_store(struct pg_tx *tx, const struct rows_stack *stacks, size_t count);

#endif
