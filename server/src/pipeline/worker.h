/*
 * worker.h - a worker thread of work.h and its own data. For pipeline/ and rekey/.
 */
#ifndef MIRE_PIPELINE_WORKER_H
#define MIRE_PIPELINE_WORKER_H

#include "pipeline/app_rules.h"
#include "pipeline/enough.h"
#include "pipeline/journal.h"
#include "pipeline/known.h"
#include "pipeline/modules.h"
#include "pipeline/shares.h"
#include "pipeline/stages.h"
#include "pipeline/work.h"

#include "base/metric.h"
#include "fetch/unpack.h"

#include <pthread.h>
#include <stdatomic.h>

struct worker {
    struct work *work;
    pthread_t thread;
    struct arena arena;
    struct symbols *symbols;
    struct unpack unpack;
    struct journal_slot *slot;
    struct app_rules app_rules;
    struct rules_seen seen; /* in the arena */
    struct modules modules;
    struct document_encoder *encoder;
    struct inbox_turn turn;
    size_t most; /* reports in the next batch */
    struct shares shares;
    struct enough enough;
    struct known known;
};

struct work {
    struct work_options options;
    struct rules *rules;
    struct suspect_rules *suspects;
    struct journal journal;
    pthread_rwlock_t turn; /* held for a batch: shared, or alone for a report that failed before */
    struct inbox_wakeup *wakeup;
    bool own_wakeup;
    _Atomic bool stopping; /* written by work_stop, read by workers; relaxed */
    _Atomic uint64_t done; /* the counters: written by workers, read by anyone; relaxed */
    _Atomic uint64_t given_up;
    _Atomic uint64_t failed;
    _Atomic uint64_t left_out;
    _Atomic uint64_t disbelieved;
    _Atomic uint64_t moved, stayed, left; /* reports derived again, by outcome */
    struct histogram seconds;             /* a report took */
    int started;
    struct worker workers[]; /* room for options.threads of them, and for MIRE_REKEY_WORKERS of rekey/ */
};

/* Start the next worker, which runs `run` with its struct worker until work->stopping. work_stop joins it.
 * 0 or a fault. Called by one thread, before work_stop. */
int worker_start(struct work *work, void *(*run)(void *worker));

/* An item with the worker's own data, and the connection of the transaction. */
struct item worker_item(struct worker *worker, struct pg_tx *tx);

/* Begin the transaction of a batch, whose statements find all rows by key. 0 or a fault; pg_end ends it in any case. */
int worker_begin(struct pg_tx **tx, const struct work *work);

/* Wait; returns early when the workers are to stop. */
void worker_pause(const struct work *work, int ms);

#endif
