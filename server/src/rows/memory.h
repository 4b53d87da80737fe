/*
 * memory.h - stores the memory of healthy processes, and of the processes of an issue, as sums (populations). Every
 * function runs inside the caller's transaction and returns 0 or a fault.
 *
 * The slot of a sum is that of its key (rows_slot, model/rows.h). Adding locks the row until commit, so a transaction
 * adds to several sums by rising slot and key. An unreadable sum is started again from nothing.
 */
#ifndef MIRE_ROWS_MEMORY_H
#define MIRE_ROWS_MEMORY_H

#include "model/population.h"
#include "model/rows.h"
#include "model/view.h"
#include "pg/pg.h"

/* Store baselines that have no row yet (rows_stored in derive.h). */
int rows_baselines_store(struct pg_tx *tx, const struct baseline_row *baselines, size_t count);

/* Order of the sums that baselines are added to: below, at or above 0. */
int rows_healthy_compare(const struct baseline_row *a, const struct baseline_row *b);

/* Add baselines, all of one version and device class, to the memory of its healthy processes. */
struct rows_healthy_one {
    const struct baseline_row *baseline;
    const struct memory *memory;
};
int rows_healthy_add(struct pg_tx *tx, struct arena *arena, const struct rows_healthy_one *added, size_t count);

/* Take away a baseline that was added, and whose row is deleted. A sum of no baseline goes. */
int rows_healthy_take(struct pg_tx *tx, struct arena *arena, const struct baseline_row *baseline,
                      const struct memory *memory);

/* Order of the sums that events are added to: below, at or above 0. */
int rows_issue_memory_compare(const struct event_row *a, const struct event_row *b);

/* Add events, all of one day, issue, version and tree, to the memory of their issue's processes. */
struct rows_held {
    const struct event_row *event;
    const struct memory *memory;
};
int rows_issue_memory_add(struct pg_tx *tx, struct arena *arena, const struct rows_held *added, size_t count);

/* Take away an event that was added; `event` and `memory` as they were then. A sum without reports is deleted. */
int rows_issue_memory_take(struct pg_tx *tx, struct arena *arena, const struct event_row *event,
                           const struct memory *memory);

/* Move the memory of one issue's processes to another issue. */
int rows_issue_memory_move(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

/*
 * The healthy processes of an operating system for a comparison: those of the version and device class; with fewer than
 * `least` of them, those of the class; with too few again, all of the app's on that system.
 *
 *   scope_out  MIRE_HEALTHY_NONE if the app has too few as well; *out is then empty
 */
int rows_healthy_find(struct population *out, enum healthy_scope *scope_out, struct pg_tx *tx, struct arena *arena,
                      int32_t app_id, int64_t version_id, const char *os, const char *device_class, uint64_t least);

#endif
