/*
 * work.c - the workers: their threads, and the data that they share. batch.c has the work of one.
 */
#include "pipeline/work.h"
#include "pipeline/batch.h"
#include "pipeline/worker.h"

#include "document/document.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/metric.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IDLE_MS      1000 /* between looks at the inbox without a wake-up */
#define PAUSE_MS     250  /* after the first fault in a row; doubles */
#define PAUSE_MAX_MS 8000
#define ARENA_BYTES  (512u << 20) /* of a batch: models, stacks and trees */
#define KEEP_BYTES   (32u << 20)  /* of it for the next batch */

struct item worker_item(struct worker *worker, struct pg_tx *tx)
{
    struct work *work = worker->work;
    return (struct item){.arena = &worker->arena,
                         .tx = tx,
                         .journal = &work->journal,
                         .slot = worker->slot,
                         .symbols = worker->symbols,
                         .rules = work->rules,
                         .suspects = work->suspects,
                         .seen = &worker->seen,
                         .modules = &worker->modules,
                         .shares = &worker->shares,
                         .enough = &worker->enough,
                         .known = &worker->known,
                         .disbelieved = &work->disbelieved,
                         .encoder = worker->encoder,
                         .now_ms = clock_mono_ns() / 1000000,
                         .keep_days = work->options.keep_days};
}

/*
 * Every statement finds its rows by key. So one plan is as good for all values, and plans of a time when the tables
 * were small must not read them whole.
 */
static const char by_key[] = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;"
                             " SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

/* A coordinator has to know the slot before it can plan. Its machines have small shards, and plan by themselves. */
static const char by_slot[] = "SET LOCAL plan_cache_mode = force_custom_plan";

int worker_begin(struct pg_tx **tx, const struct work *work)
{
    int rc = pg_begin(tx, work->options.pg, MIRE_PG_WRITE);
    return rc ? rc : pg_script(*tx, work->options.by_slot ? by_slot : by_key);
}

void worker_pause(const struct work *work, int ms)
{
    for (int waited = 0; waited < ms && !atomic_load_explicit(&work->stopping, memory_order_relaxed); waited += 50)
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct work *work = worker->work;
    uint64_t seen = 0;
    int pause_ms = PAUSE_MS;
    worker->most = MIRE_BATCH_REPORTS;
    worker->turn.by_slot = work->options.by_slot;
    while (!atomic_load_explicit(&work->stopping, memory_order_relaxed)) {
        int rc = batch_step(worker);
        if (rc == 0)
            (void)inbox_wait(work->wakeup, &seen, IDLE_MS);
        if (rc >= 0) {
            pause_ms = PAUSE_MS;
            continue;
        }
        worker_pause(work, pause_ms);
        pause_ms = rc == MIRE_FAULT_RACED || pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MS : pause_ms * 2;
    }
    return NULL;
}

static int log_rules(enum rules_outcome outcome, const struct rules_fault *fault, const char *path,
                     const struct log *log)
{
    switch (outcome) {
    case MIRE_RULES_OK:
        return 0;
    case MIRE_RULES_WRONG:
        log_event(log, MIRE_LOG_ERROR, "work.rules", LOG_TEXT("path", path ? path : "built in"),
                  LOG_NUMBER("line", fault->line), LOG_TEXT("reason", fault->text));
        return MIRE_FAULT_BROKEN;
    default:
        return MIRE_FAULT_MEMORY;
    }
}

static int read_rules(struct work *work, const struct work_options *options)
{
    struct rules_fault fault = {0};
    enum rules_outcome outcome = rules_load(&work->rules, &fault, options->rules_path);
    int rc = log_rules(outcome, &fault, options->rules_path, options->log);
    if (rc)
        return rc;
    outcome = suspect_rules_load(&work->suspects, &fault, options->suspects_path);
    return log_rules(outcome, &fault, options->suspects_path, options->log);
}

static bool admit(void *context, const uint8_t *id, size_t id_len)
{
    struct worker *worker = context;
    return journal_module(&worker->work->journal, worker->slot, id, id_len);
}

static void log_refused(void *context, const char *path, const char *why)
{
    const struct work *work = context;
    log_event(work->options.log, MIRE_LOG_WARN, "work.symbols_refused", LOG_TEXT("file", path),
              LOG_TEXT("reason", why));
}

int worker_start(struct work *work, void *(*run)(void *worker))
{
    struct worker *worker = &work->workers[work->started];
    const struct work_options *options = &work->options;
    struct symbols_options symbols = MIRE_SYMBOLS_OPTIONS;
    worker->work = work;
    worker->slot = journal_slot(&work->journal, (size_t)work->started);
    worker->app_rules = (struct app_rules){.base = work->rules, .log = options->log};
    worker->unpack.cache_dir = options->cache_dir;
    worker->unpack.cache_max_bytes = options->cache_max_bytes;
    worker->unpack.log = options->log;
    worker->enough.limit = options->enough;
    worker->known.limits = (struct known_limits){options->new_values, options->new_issues};
    symbols.dirs = options->symbol_dirs;
    symbols.dir_count = options->symbol_dir_count;
    symbols.local_images = options->local_images;
    symbols.admit = admit;
    symbols.admit_context = worker;
    symbols.uploaded = unpack_find;
    symbols.contents_id = unpack_contents_id;
    symbols.owner = unpack_owner;
    symbols.arrivals = unpack_arrivals;
    symbols.converted = unpack_forget;
    symbols.uploaded_context = &worker->unpack;
    symbols.cache_dir = options->cache_dir;
    symbols.cache_max_bytes = options->cache_max_bytes;
    symbols.converter = options->converter;
    symbols.refused = log_refused;
    symbols.refused_context = work;
    arena_init(&worker->arena, ARENA_BYTES);
    worker->arena.keep_bytes = KEEP_BYTES;
    worker->encoder = document_encoder_new();
    if (!worker->encoder || symbols_open(&worker->symbols, &symbols)) {
        document_encoder_free(worker->encoder);
        return MIRE_FAULT_MEMORY;
    }
    if (pthread_create(&worker->thread, NULL, run, worker) != 0) {
        document_encoder_free(worker->encoder);
        symbols_close(worker->symbols);
        return MIRE_FAULT_SYSTEM;
    }
    work->started++;
    return 0;
}

/* The reports in hand when the last process ended. Without the journal's file the workers run as well. */
static int recover(struct work *work)
{
    const struct work_options *options = &work->options;
    int rc = options->cache_dir ? journal_open(&work->journal, options->cache_dir) : 0;
    if (rc)
        log_event(options->log, MIRE_LOG_WARN, "work.in_hand", LOG_TEXT("dir", options->cache_dir),
                  LOG_TEXT("reason", rc == 1 ? "another process has it" : strerror(errno)));
    return journal_recover(&work->journal, options->pg, options->log);
}

/* A thread that waits to work alone comes next. */
static void init_turn(struct work *work)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&work->turn, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

int work_start(struct work **out, const struct work_options *options)
{
    size_t threads = options->threads > 0 ? (size_t)options->threads : 1;
    struct work *work = calloc(1, sizeof *work + (threads + MIRE_REKEY_WORKERS) * sizeof work->workers[0]);
    if (!work)
        return MIRE_FAULT_MEMORY;
    work->options = *options;
    if (!options->stages) {
        work->options.stages = work_stages;
        work->options.stage_count = work_stage_count;
    }
    init_turn(work);
    work->seconds.first = 0.001;
    work->seconds.unit = 1e-9;
    work->wakeup = options->wakeup;
    work->own_wakeup = !options->wakeup;
    int rc = read_rules(work, options);
    if (!rc && work->own_wakeup)
        rc = inbox_wakeup_new(&work->wakeup);
    if (!rc)
        rc = recover(work);
    for (size_t i = 0; i < threads && !rc; i++)
        rc = worker_start(work, worker_main);
    if (rc) {
        work_stop(work);
        return rc;
    }
    *out = work;
    return 0;
}

void work_stop(struct work *work)
{
    if (!work)
        return;
    atomic_store_explicit(&work->stopping, true, memory_order_relaxed);
    inbox_wake(work->wakeup);
    for (int i = 0; i < work->started; i++) {
        pthread_join(work->workers[i].thread, NULL);
        symbols_close(work->workers[i].symbols);
        document_encoder_free(work->workers[i].encoder);
        arena_fini(&work->workers[i].arena);
        app_rules_fini(&work->workers[i].app_rules);
        shares_fini(&work->workers[i].shares);
    }
    if (work->own_wakeup)
        inbox_wakeup_free(work->wakeup);
    journal_close(&work->journal);
    pthread_rwlock_destroy(&work->turn);
    rules_free(work->rules);
    suspect_rules_free(work->suspects);
    free(work);
}

void work_metrics(struct work *work, struct text *out)
{
    metric_head(out, "mire_reports_worked_total", "counter", "Reports taken from the inbox, by what came of it.");
    metric_value(out, "mire_reports_worked_total", "outcome=\"done\"", (double)atomic_load(&work->done));
    metric_value(out, "mire_reports_worked_total", "outcome=\"left_out\"", (double)atomic_load(&work->left_out));
    metric_value(out, "mire_reports_worked_total", "outcome=\"failed\"", (double)atomic_load(&work->failed));
    metric_value(out, "mire_reports_worked_total", "outcome=\"dead_letter\"", (double)atomic_load(&work->given_up));
    metric_head(out, "mire_reports_disbelieved_total", "counter",
                "Reports with a sampling share that no rollout of their app gave; each counts once.");
    metric_value(out, "mire_reports_disbelieved_total", NULL, (double)atomic_load(&work->disbelieved));
    metric_head(out, "mire_reports_rekeyed_total", "counter", "Stored reports derived anew, by what came of it.");
    metric_value(out, "mire_reports_rekeyed_total", "outcome=\"moved\"", (double)atomic_load(&work->moved));
    metric_value(out, "mire_reports_rekeyed_total", "outcome=\"stayed\"", (double)atomic_load(&work->stayed));
    metric_value(out, "mire_reports_rekeyed_total", "outcome=\"failed\"", (double)atomic_load(&work->left));
    histogram_write(out, "mire_work_seconds", "Time from claim to commit of the batch that a report is in.",
                    &work->seconds);
}
