/*
 * derive.h - stores what was derived of a report. Every function runs inside the worker's transaction and returns 0 or
 * a fault.
 */
#ifndef MIRE_ROWS_DERIVE_H
#define MIRE_ROWS_DERIVE_H

#include "base/arena.h"
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

/* Issues by feature, all at once. */
struct rows_issue_found {
    int64_t issue_id; /* 0: there is none */
    int64_t first_seen_us;
    bool gone; /* it leads to another */
};
int rows_issues_find(struct rows_issue_found *out, struct pg_tx *tx, int32_t app_id, const struct pg_bytes *keys,
                     size_t count);

/* rows_issue_take of several issues, each once. */
struct rows_taken {
    int64_t issue_id, version_id;
    int64_t occurred_us;
};
int rows_issues_take(struct pg_tx *tx, struct arena *arena, const struct rows_taken *taken, size_t count);

/* The numbers of an app's versions, all at once; 0: there is no row. */
int rows_versions_find(int64_t *ids_out, struct pg_tx *tx, int32_t app_id, const char *const *versions,
                       const char *const *builds, size_t count);

/* Reports that have a row already: they may not be stored or counted again. */
enum rows_table { ROWS_OF_EVENTS, ROWS_OF_SESSIONS, ROWS_OF_BASELINES };
int rows_stored(bool *stored_out, struct pg_tx *tx, struct arena *arena, enum rows_table table,
                const struct report_key *keys, size_t count);

/* Store events that have no row yet. */
int rows_events_store(struct pg_tx *tx, const struct event_row *events, size_t count);

/* Store the modules that have no debug file; those with lines alone miss none.
 *   missing  by rising build id: workers that store new ones wait for each other in one order */
int rows_images_store(struct pg_tx *tx, const struct missing_debug_row *missing, size_t count);

/* Store which reports miss which modules, each once. */
struct rows_missing {
    struct report_key key;
    int32_t app_id;
    const struct missing_debug_row *rows;
    size_t count;
};
int rows_missing_debug_store(struct pg_tx *tx, const struct rows_missing *reports, size_t count);

/* Store the resolved stacks of new events; or of one event, in place of earlier ones. */
struct rows_stack {
    struct report_key key;
    struct pg_bytes document;
};
int rows_stacks_store(struct pg_tx *tx, const struct rows_stack *stacks, size_t count);
int rows_stack_store(struct pg_tx *tx, const struct report_key *key, struct pg_bytes document);

#endif
