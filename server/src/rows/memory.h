/*
 * memory.h - stores what healthy processes and the processes of an issue hold, summed up as populations. Every function
 * runs inside the caller's transaction and returns 0 or a fault.
 *
 * A sum is on the slot of its key (rows_slot, model/rows.h). Adding locks its row until commit, so a transaction adds to
 * several sums by rising slot and key. A sum that cannot be read is begun anew.
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

/* Add baselines to the memory of the healthy processes of their version and device class, which are the same for all. */
struct rows_healthy_one {
    const struct baseline_row *baseline;
    const struct memory *memory;
};
int rows_healthy_add(struct pg_tx *tx, struct arena *arena, const struct rows_healthy_one *added, size_t count);

/* Order of the sums that events are added to: below, at or above 0. */
int rows_issue_memory_compare(const struct event_row *a, const struct event_row *b);

/* Add events to the memory of their issue's processes. All have the same day, issue, version and tree. */
struct rows_held {
    const struct event_row *event;
    const struct memory *memory;
};
int rows_issue_memory_add(struct pg_tx *tx, struct arena *arena, const struct rows_held *added, size_t count);

/* Take away one that was added: `event` and `memory` as they were then. A sum of no report goes. */
int rows_issue_memory_take(struct pg_tx *tx, struct arena *arena, const struct event_row *event,
                           const struct memory *memory);

/* Add to an issue what the processes of another held, which then has nothing. */
int rows_issue_memory_move(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to);

/*
 * The healthy processes to compare one with: those of its version and device class; if they are fewer than `least`,
 * those of its class; if these are too few too, those of the app.
 *
 *   scope_out  MIRE_HEALTHY_NONE if even these are too few; *out is then empty
 */
int rows_healthy_find(struct population *out, enum healthy_scope *scope_out, struct pg_tx *tx, struct arena *arena,
                      int32_t app_id, int64_t version_id, const char *device_class, uint64_t least);

#endif
