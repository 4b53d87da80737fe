/*
 * rekey.c - batches. All of a batch is derived first, then stored table by table: rows are locked in the order of
 * rows/derive.h, those of one table by rising key.
 */
#include "rekey/rekey.h"
#include "rekey/move.h"
#include "forget/forget.h"
#include "pipeline/worker.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BATCH       400        /* reports */
#define BATCH_BYTES (4u << 20) /* of their bodies, as stored */
#define IDLE_MS     250        /* somebody waits for a preview */
#define NICE        5          /* so that pages are answered first */
#define PAUSE_MS    500
#define SLOTS       64

struct rekeyer {
    struct worker *worker;
    int16_t from; /* slot to claim from next */
    int most;     /* reports in a batch */
};

/* The rules in force for the app of the last report, asked for once while it stays the same; app_id 0: of none. */
struct in_force {
    int32_t app_id;
    const struct rules *rules;
};

/* The rules for a report of a job: the draft of a preview, otherwise those in force for its app. */
static int job_rules(const struct rules **out, struct in_force *last, struct worker *worker, struct pg_tx *tx,
                     const struct rekey_stored *stored)
{
    int rc = 0;

    if (stored->rules) {
        last->app_id = 0; /* a draft may take the place of other rules */
        return app_rules_draft(out, &worker->app_rules, stored->rules, stored->app_id, stored->job);
    }
    if (last->app_id != stored->app_id)
        rc = app_rules_of(&last->rules, &worker->app_rules, tx, &worker->arena, stored->app_id);
    last->app_id = rc ? 0 : stored->app_id;
    *out = last->rules;
    return rc;
}

static void log_failure(const struct work *work, const struct move *move, const char *why)
{
    char id[MIRE_UUID_TEXT];
    uuid_format(id, &move->item.claim.report_id);
    log_event(work->options.log, MIRE_LOG_WARN, "rekey.left", LOG_TEXT("report", id), LOG_TEXT("reason", why),
              LOG_NUMBER("job", (long long)move->stored.job));
}

/* Derive a report again. A report that fails, or was tried too often, stays unchanged. 0 or a fault. */
static int derive(struct worker *worker, struct move *move, struct pg_tx *tx, struct in_force *rules)
{
    struct work *work = worker->work;
    struct item *item = &move->item;
    const struct rekey_stored *stored = &move->stored;

    *item = worker_item(worker, tx);
    int rc = job_rules(&item->rules, rules, worker, tx, stored);
    if (rc)
        return rc;
    item->version_id = stored->version_id;
    item->occurred = (struct aggregate_instant){.at_us = stored->occurred_us};
    item->claim = (struct inbox_claim){.slot = stored->key.slot,
                                       .day = stored->key.day,
                                       .app_id = stored->app_id,
                                       .received_us = stored->received_us,
                                       .format = stored->format,
                                       .encoding = stored->encoding,
                                       .body = stored->body.bytes,
                                       .body_len = stored->body.len,
                                       .attempts = stored->attempts};
    memcpy(item->claim.report_id.bytes, stored->key.report_id, sizeof stored->key.report_id);
    if (stored->attempts >= MIRE_REKEY_ATTEMPTS_MAX) {
        log_failure(work, move, "it failed too often");
        move->left = true;
        return 0;
    }
    worker->unpack.app_id = stored->app_id;
    journal_take(&work->journal, worker->slot, &item->claim);
    journal_stage(&work->journal, worker->slot, "rekey");
    rc = stages_derive(item);
    journal_drop(&work->journal, worker->slot);
    if (rc == MIRE_STAGE_UNUSABLE) {
        log_failure(work, move, item->reason);
        move->left = true;
        return 0;
    }
    item->version_id = stored->version_id;
    return rc ? rc : move_prepare(move);
}

static bool same_report(const struct rekey_stored *a, const struct rekey_stored *b)
{
    return a->key.slot == b->key.slot && a->key.day == b->key.day &&
           !memcmp(a->key.report_id, b->key.report_id, sizeof a->key.report_id);
}

/* The claimed reports, each once, in the arena. */
static int read_batch(struct move_batch *out, struct worker *worker, const struct rekey_claim *claim)
{
    out->arena = &worker->arena;
    out->moves = arena_array(&worker->arena, claim->count, sizeof *out->moves);
    if (!out->moves)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < claim->count; i++) {
        struct move *move = &out->moves[out->count];
        move->stored = claim->stored[i];
        if (out->count && same_report(&move->stored, &move[-1].stored))
            continue;
        out->count++;
    }

    return 0;
}

static int derive_all(struct worker *worker, struct move_batch *batch, struct pg_tx *tx)
{
    struct in_force rules = {0};
    int rc = 0;

    for (size_t i = 0; !rc && i < batch->count; i++) {
        struct move *move = &batch->moves[i];
        if (move->stored.gone)
            continue;
        if (move->stored.attempts)
            pthread_rwlock_wrlock(&worker->work->turn);
        else
            pthread_rwlock_rdlock(&worker->work->turn);
        rc = derive(worker, move, tx, &rules);
        pthread_rwlock_unlock(&worker->work->turn);
    }

    return rc;
}

static void count(struct work *work, const struct move_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct move *move = &batch->moves[i];
        if (move->stored.gone || move->stored.preview)
            continue;
        _Atomic uint64_t *counter = move->left                                ? &work->left
                                    : move->to_issue != move->stored.issue_id ? &work->moved
                                                                              : &work->stayed;
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    }
}

/* Is the fault of the database alone, so that the same batch may be tried again? Other faults may be a report's. */
static bool is_of_the_moment(int rc)
{
    return rc == MIRE_FAULT_AWAY || rc == MIRE_FAULT_RACED || rc == MIRE_FAULT_TIMEOUT;
}

/* A batch failed: the next one has one report. When a batch of one report fails, the report counts an attempt. */
static int blame(struct rekeyer *rekeyer, const struct move_batch *batch, struct pg_tx **tx, int rc)
{
    if (is_of_the_moment(rc))
        return rc;
    if (rekeyer->most > 1) {
        rekeyer->most = 1;
        return rc;
    }
    int undone = pg_undo(*tx);
    if (!undone)
        undone = rows_rekey_fail(*tx, &batch->moves[0].stored);
    return undone ? undone : pg_commit(tx);
}

static void rekey_claim_free(struct rekey_claim *claim)
{
    pg_rows_free(&claim->rows);
}

/*
 * Begin a transaction whose commit need not be on the disk: a failure of PostgreSQL undoes it whole, and its reports are
 * queued again. With several machines one of them might keep its part of what another one lost.
 */
static int begin(struct pg_tx **tx, const struct work *work)
{
    int rc = worker_begin(tx, work);
    return rc || work->options.by_slot ? rc : pg_script(*tx, "SET LOCAL synchronous_commit = off");
}

/* The next batch. 1: there was one, 0: nothing is queued, below zero a fault. */
static int batch_step(struct rekeyer *rekeyer)
{
    struct worker *worker = rekeyer->worker;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(rekey_claim_free) struct rekey_claim claim = {0};
    const struct rekey_wish wish = {rekeyer->from, rekeyer->most, BATCH_BYTES};
    struct move_batch batch = {0};
    seen_forget(&worker->seen);
    arena_reset(&worker->arena);
    int rc = begin(&tx, worker->work);
    if (!rc)
        rc = rows_rekey_claim(&claim, tx, &worker->arena, &wish);
    if (rc)
        return rc;
    int16_t from = rekeyer->from;
    rekeyer->from = 0;
    if (!claim.count)
        return from > 0; /* none is due only after a whole round of the slots */
    unpack_in(&worker->unpack, tx);
    rc = read_batch(&batch, worker, &claim);
    if (!rc)
        rc = pg_save(tx);
    if (rc)
        return rc;
    rekeyer->from = (int16_t)((batch.moves[batch.count - 1].stored.key.slot) % SLOTS);
    rc = derive_all(worker, &batch, tx);
    if (!rc)
        rc = move_all(&batch, tx);
    if (rc) {
        rc = blame(rekeyer, &batch, &tx, rc);
        return rc ? rc : 1;
    }
    rc = pg_commit(&tx);
    if (rc)
        return rc;
    count(worker->work, &batch);
    rekeyer->most = BATCH;
    return 1;
}

/* Queue more reports. Result as of batch_step. */
static int queue_step(struct worker *worker)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    arena_reset(&worker->arena);
    int rc = pg_begin(&tx, worker->work->options.pg, MIRE_PG_WRITE);
    int done = rc ? rc : rows_rekey_queue(tx, &worker->arena);
    if (done <= 0)
        return done;
    rc = pg_commit(&tx);
    return rc ? rc : 1;
}

static int end_step(struct worker *worker)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    arena_reset(&worker->arena);
    int rc = pg_begin(&tx, worker->work->options.pg, MIRE_PG_WRITE);
    int done = rc ? rc : rows_rekey_end(tx, &worker->arena);
    if (done <= 0)
        return done;
    rc = pg_commit(&tx);
    return rc ? rc : 1;
}

/* A batch, or a step of a job. 1: something was done; 0: nothing is due; below zero a fault, and nothing changed. */
static int step(struct rekeyer *rekeyer)
{
    int queued = queue_step(rekeyer->worker);
    if (queued < 0)
        return queued;
    int rc = batch_step(rekeyer);
    if (!rc)
        rc = end_step(rekeyer->worker);
    return rc < 0 ? rc : rc || queued;
}

static void run(struct worker *worker, bool forgets)
{
    struct rekeyer rekeyer = {.worker = worker, .most = BATCH};
    struct work *work = worker->work;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* of the thread */
    while (!atomic_load_explicit(&work->stopping, memory_order_relaxed)) {
        int forgot = forgets ? forget_step(worker) : 0; /* both take turns */
        int rc = step(&rekeyer);
        rc = forgot && rc >= 0 ? forgot : rc;
        if (rc <= 0)
            worker_pause(work, rc ? PAUSE_MS : IDLE_MS);
    }
}

static void *first_main(void *worker)
{
    run(worker, true);
    return NULL;
}

static void *other_main(void *worker)
{
    run(worker, false);
    return NULL;
}

int rekey_start(struct work *work)
{
    int threads = work->options.threads < MIRE_REKEY_WORKERS ? work->options.threads : MIRE_REKEY_WORKERS;
    int rc = worker_start(work, first_main);

    for (int i = 1; !rc && i < threads; i++)
        rc = worker_start(work, other_main);
    return rc;
}
