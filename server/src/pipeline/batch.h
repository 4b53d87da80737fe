/*
 * batch.h - the reports of one transaction, from the inbox to their rows. Inside pipeline/ only.
 *
 *     claim -> derive one by one -> place (version, issue, tree) -> store, table by table -> COMMIT
 *
 * A malformed report becomes a dead letter within the batch. A batch that fails is rolled back, and the next batch is
 * half as large, until a report that always fails is alone in its batch; then the failed attempt is counted.
 */
#ifndef MIRE_PIPELINE_BATCH_H
#define MIRE_PIPELINE_BATCH_H

#include "pipeline/stages.h"

#define MIRE_BATCH_REPORTS     200
#define MIRE_BATCH_BODY_BYTES  (4u << 20)  /* of the bodies of a batch, as stored */
#define MIRE_BATCH_ARENA_BYTES (64u << 20) /* a batch ends when the derived reports take this */
#define MIRE_BATCH_NS          2000000000u /* or after this time, because other apps wait for their turn */

struct worker;

struct batch {
    struct pg_tx *tx;
    struct arena *arena;
    struct item *items; /* of one app */
    size_t count;
    uint64_t begun_ns; /* monotonic clock */
    bool is_cut;       /* not all claimed reports are derived */
};

/* Process a worker's next batch. 1: processed, 0: nothing is due, below zero: a fault, nothing has changed. */
int batch_step(struct worker *worker);

/* place.c: find, or make, the versions, issues and trees of the derived items. 0 or a fault. */
int batch_place(struct batch *batch);

/* Is a derived report left out of the stored and counted rows? */
bool batch_skips(const struct item *item);

/* store.c: store the rows of the derived items, and count the new ones. 0 or a fault. */
int batch_store(struct batch *batch);

#endif
