/*
 * batch.c - see batch.h.
 *
 *     result of a stage     next
 *     done                  next stage; after the last: remove from the inbox, commit
 *     unusable              a dead letter; the other reports go on
 *     fault: away, raced    roll back, wait a little; the reports are due again at once
 *     other fault           roll back, half as many; of one report: count the attempt, or a dead letter
 *     the process ends      the next process counts the attempt (journal.h)
 */
#include "pipeline/batch.h"
#include "pipeline/worker.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "rows/apps.h"

#include <stdio.h>
#include <string.h>

/* Why the stage failed, for the inbox and the log. */
static void explain(struct item *item, int rc)
{
    const char *complaint = rc == MIRE_FAULT_SQL ? pg_complaint(item->tx) : "";
    if (rc < 0)
        text_format(item->reason, sizeof item->reason, "%s%s%s", fault_name(rc), complaint[0] ? ": " : "", complaint);
}

static void log_failure(const struct work *work, const struct item *item, const char *stage, bool is_final)
{
    char id[MIRE_UUID_TEXT];
    uuid_format(id, &item->claim.report_id);
    log_event(work->options.log, MIRE_LOG_WARN, is_final ? "work.gave_up" : "work.failed", LOG_TEXT("report", id),
              LOG_TEXT("stage", stage), LOG_TEXT("reason", item->reason),
              LOG_NUMBER("attempt", item->claim.attempts + 1));
}

/* Count the failure of a report, or make it a dead letter. `final`: trying again cannot help. */
static int put_aside(struct work *work, struct item *item, const char *stage, bool final)
{
    bool is_final = final || item->claim.attempts + 1 >= MIRE_INBOX_ATTEMPTS_MAX;
    int rc = inbox_fail(item->tx, &item->claim, stage, item->reason, final);
    if (rc)
        return rc;
    log_failure(work, item, stage, is_final);
    atomic_fetch_add_explicit(is_final ? &work->given_up : &work->failed, 1, memory_order_relaxed);
    return 0;
}

/* Is the decoded report of an installation that the app leaves out? */
static bool is_left_out(const struct item *item)
{
    const uint8_t *install = item->report.device.install;
    char digits[2 * sizeof item->report.device.install + 1];
    hex_format(digits, install, sizeof item->report.device.install);
    return item->left_out[0] && strstr(item->left_out, digits) != NULL;
}

/* Run the stages of one report. *failed_out: the stage that did not succeed. */
static int derive(const struct work *work, struct item *item, const char **failed_out)
{
    for (size_t i = 0; i < work->options.stage_count; i++) {
        const struct stage *stage = &work->options.stages[i];
        journal_stage(item->journal, item->slot, stage->name);
        int rc = stage->run(item);
        if (rc) {
            *failed_out = stage->name;
            return rc;
        }
        if (i == 0 && (item->is_left_out = is_left_out(item)))
            return MIRE_STAGE_DONE;
    }
    journal_stage(item->journal, item->slot, "encode");
    return stages_encode(item);
}

/* Is the batch full? */
static bool is_full(const struct batch *batch)
{
    return batch->arena->used_bytes > MIRE_BATCH_ARENA_BYTES || clock_mono_ns() - batch->begun_ns > MIRE_BATCH_NS;
}

/* Derive the reports, one after the other; those beyond a full batch are left to the next one. */
static int derive_all(struct worker *worker, struct batch *batch, const char **failed_out)
{
    struct work *work = worker->work;

    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        if (i && is_full(batch)) {
            batch->count = i;
            batch->is_cut = true;
            break;
        }
        *failed_out = "encode";
        journal_take(&work->journal, worker->slot, &item->claim);
        int rc = derive(work, item, failed_out);
        if (rc < 0)
            return rc;
        item->failed = rc ? *failed_out : NULL;
    }

    return 0;
}

bool batch_skips(const struct item *item)
{
    return item->failed || item->is_left_out;
}

/* Remove finished reports from the inbox; malformed ones become dead letters. */
static int finish(struct work *work, struct batch *batch)
{
    const struct inbox_claim **done = arena_array(batch->arena, batch->count + 1, sizeof *done);
    size_t count = 0;

    if (!done)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        int rc = item->failed ? put_aside(work, item, item->failed, true) : 0;
        if (rc)
            return rc;
        if (!item->failed)
            done[count++] = &item->claim;
    }

    return inbox_finish(batch->tx, done, count);
}

/*
 * While a batch is stored, its first report is the one in hand. If the process ends, that report is processed alone,
 * and an innocent one is cleared by its second attempt.
 */
static int work_all(struct worker *worker, struct batch *batch, const char **failed_out)
{
    int rc = derive_all(worker, batch, failed_out);
    if (rc)
        return rc;
    *failed_out = "cluster";
    journal_take(&worker->work->journal, worker->slot, &batch->items[0].claim);
    journal_stage(&worker->work->journal, worker->slot, "aggregate");
    rc = batch_place(batch);
    if (rc)
        return rc;
    *failed_out = "aggregate";
    rc = batch_store(batch);
    return rc ? rc : finish(worker->work, batch);
}

/* Is the fault of the database alone, so that the same batch may be tried again? Other faults may be a report's. */
static bool is_of_the_moment(int rc)
{
    return rc == MIRE_FAULT_AWAY || rc == MIRE_FAULT_RACED;
}

/* A batch failed: the next one is half as large; of one report the attempt is counted. 1 or a fault. */
static int blame(struct worker *worker, struct batch *batch, struct pg_tx **tx, const char *stage, int rc)
{
    struct item *item = &batch->items[0];

    if (is_of_the_moment(rc))
        return rc;
    explain(item, rc);
    if (batch->count > 1 || worker->most > 1) {
        worker->most = batch->count > 1 ? (batch->count + 1) / 2 : 1;
        log_event(worker->work->options.log, MIRE_LOG_WARN, "work.halved", LOG_NUMBER("reports", (int64_t)batch->count),
                  LOG_TEXT("stage", stage), LOG_TEXT("reason", item->reason));
        return 1;
    }
    rc = pg_undo(*tx);
    if (!rc)
        rc = put_aside(worker->work, item, stage, false);
    if (!rc)
        rc = pg_commit(tx);
    return rc ? rc : 1;
}

/* The size of the next batch, after one that ended early. */
static void count(struct worker *worker, const struct batch *batch)
{
    struct work *work = worker->work;
    size_t most = batch->is_cut ? batch->count : worker->most * 2;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].is_left_out)
            atomic_fetch_add_explicit(&work->left_out, 1, memory_order_relaxed);
        if (batch_skips(&batch->items[i]))
            continue;
        atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
        histogram_count(&work->seconds, clock_mono_ns() - batch->begun_ns);
    }
    worker->most = most < MIRE_BATCH_REPORTS ? most : MIRE_BATCH_REPORTS;
}

/* A report that failed before is alone in its batch. */
static void leave_failed(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].claim.attempts) {
            batch->count = i ? i : 1;
            return;
        }
}

static int claim(struct batch *batch, struct worker *worker)
{
    struct inbox_claim *claims = arena_array(batch->arena, MIRE_BATCH_REPORTS, sizeof *claims);
    const struct rules *rules = NULL;
    const char *left_out = "", *kept_tags = "";

    if (!claims)
        return MIRE_FAULT_MEMORY;
    int rc =
        inbox_claim(claims, worker->most, MIRE_BATCH_BODY_BYTES, &batch->count, batch->tx, batch->arena, &worker->turn);
    if (!rc && batch->count)
        rc = app_rules_of(&rules, &worker->app_rules, batch->tx, batch->arena, claims[0].app_id);
    if (!rc && batch->count)
        rc = rows_app_taken_read(&left_out, &kept_tags, batch->tx, batch->arena, claims[0].app_id);
    batch->items = rc ? NULL : arena_array(batch->arena, batch->count + 1, sizeof *batch->items);
    if (!batch->items)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        batch->items[i] = worker_item(worker, batch->tx);
        batch->items[i].claim = claims[i];
        batch->items[i].rules = rules;
        batch->items[i].left_out = left_out;
        batch->items[i].kept_tags = kept_tags;
    }
    leave_failed(batch);
    return 0;
}

/* Derive and store a claimed batch, and commit. The worker holds `turn`. */
static int run(struct worker *worker, struct batch *batch, struct pg_tx **tx)
{
    const char *stage = "";
    int rc = 0;

    if (worker->most == 1 || batch->items[0].claim.attempts) {
        worker->most = batch->count = 1;
        rc = pg_save(*tx);
    }
    if (rc)
        return rc;
    rc = work_all(worker, batch, &stage);
    if (rc)
        return blame(worker, batch, tx, stage, rc);
    rc = pg_commit(tx);
    if (rc)
        return rc;
    enough_done(&worker->enough);
    known_done(&worker->known);
    count(worker, batch);
    return 1;
}

int batch_step(struct worker *worker)
{
    struct work *work = worker->work;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct batch batch = {.arena = &worker->arena, .begun_ns = clock_mono_ns()};

    seen_forget(&worker->seen);
    arena_reset(&worker->arena);
    known_begin(&worker->known);
    int rc = worker_begin(&tx, work);
    batch.tx = tx;
    if (!rc)
        rc = claim(&batch, worker);
    if (rc || !batch.count)
        return rc ? rc : pg_commit(&tx);
    unpack_in(&worker->unpack, tx);
    worker->unpack.app_id = batch.items[0].claim.app_id; /* of all of a batch */
    if (batch.items[0].claim.attempts)
        pthread_rwlock_wrlock(&work->turn);
    else
        pthread_rwlock_rdlock(&work->turn);
    rc = run(worker, &batch, &tx);
    journal_drop(&work->journal, worker->slot);
    pthread_rwlock_unlock(&work->turn);
    return rc;
}
