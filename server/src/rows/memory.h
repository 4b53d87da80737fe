/*
 * memory.h - stores what healthy processes and the processes of an issue hold, summed up as populations. Every function
 * runs inside the caller's transaction and returns 0 or a fault.
 *
 * Sums are kept on the report's own slot: adding locks one row until commit, and reading merges those of all slots. A
 * sum that cannot be read is begun anew.
 */
#ifndef MIRE_ROWS_MEMORY_H
#define MIRE_ROWS_MEMORY_H

#include "model/population.h"
#include "model/rows.h"
#include "model/view.h"
#include "pg/pg.h"

/* Store a baseline. *new_out: it was not there yet; only then may it be counted. */
int rows_baseline_store(bool *new_out, struct pg_tx *tx, const struct baseline_row *baseline);

/* Add a baseline to what healthy processes of its version and device class hold. */
int rows_healthy_add(struct pg_tx *tx, struct arena *arena, const struct baseline_row *baseline,
                     const struct memory *memory);

/* Add a report to what the processes of its issue hold. */
int rows_issue_memory_add(struct pg_tx *tx, struct arena *arena, const struct event_row *event,
                          const struct memory *memory);

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
