/* monitor_heap.c - see monitor_heap.h. */
#include "core/monitor_heap.h"

#include "allochook/allochook.h"
#include "core/memory_reports.h"
#include "core/variant.h"
#include "heap/heap.h"
#include "platform/apart.h"
#include "platform/platform.h"
#include "report/snapshot.h"
#include "store/tables.h"

#include <string.h>

#define KEEP_NS       MIRE_NS_PER_S
#define INTERVAL_INIT (512ull << 10)
#define BUDGET_INIT   (20ull << 20)

static struct {
    struct monitor_context *context; /* NULL: the monitor is off */
    _Atomic(struct heap *) heap;     /* stays mapped until the process ends; NULL: no tables */
    struct store_box file;
    char run[MIRE_STORE_PATH_MAX];
    uint64_t budget_bytes;
    struct rollout_memory planned; /* of the last plan that was obeyed */
    uint64_t kept_ns;              /* owner: the worker; time of the last reclaim */
} monitor;

/* The run's name is its blackbox's. */
static bool name_run(char run[MIRE_STORE_PATH_MAX], const struct store_box *box)
{
    static const char suffix[] = ".box";
    const char *name = strrchr(box->path, '/');
    size_t length = name ? strlen(++name) : 0;

    if (length < sizeof(suffix))
        return false;
    mire__text_copy(run, length - (sizeof(suffix) - 1) + 1, name);
    return true;
}

static void ring(void *worker)
{
    mire__worker_wake(worker, MIRE_WAKE_KEEP);
}

/* Create the run's empty file. After a failure no file is left. */
static enum mire_err open_file(struct heap *heap, const struct heap_options *options, bool on_disk)
{
    struct store *store = monitor.context->store;
    enum mire_err err;

    mire__store_tables_drop(store, monitor.run); /* of an earlier start of this process */
    err = mire__store_tables_open(&monitor.file, store, monitor.run, mire__heap_file_bytes(options->budget_bytes),
                                  on_disk);
    if (err != MIRE_OK)
        return err;
    err = mire__heap_open(heap, monitor.file.memory, options);
    if (err != MIRE_OK) {
        mire__store_tables_drop(store, monitor.run);
        mire__store_box_close(&monitor.file);
    }
    return err;
}

/* Try the file system in memory first, then the disk of the store: the former may be small or full. */
static enum mire_err open_somewhere(struct heap *heap, const struct heap_options *options)
{
    enum mire_err err = MIRE_E_MEMORY;

    if (heap && name_run(monitor.run, monitor.context->file))
        err = open_file(heap, options, false);
    if (err == MIRE_E_FULL)
        err = open_file(heap, options, true);
    if (err != MIRE_OK)
        mire__store_count_drop(monitor.context->store, MIRE_DROP_WRITE);
    return err;
}

static enum mire_err open_tables(enum mire_memory_mode mode, uint64_t interval_bytes)
{
    const struct blackbox_facts *facts = &monitor.context->box->facts;
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    struct heap *heap = mire__pages_map_inherited(sizeof(*heap), false);
    struct memory_extra *extra;
    enum mire_err err;

    options.budget_bytes = monitor.budget_bytes;
    options.mode = mode == MIRE_MEMORY_EXACT ? MIRE_HEAP_EXACT : MIRE_HEAP_SAMPLED;
    options.interval_bytes = interval_bytes;
    options.pid = mire__pid();
    options.start_ticks = facts->start_ticks;
    options.start_mono_ns = mire__now_ns();
    options.start_wall_ms = mire__wall_now_ms();
    err = open_somewhere(heap, &options);
    if (err != MIRE_OK) {
        if (heap)
            mire__pages_unmap(heap, sizeof(*heap));
        return err;
    }
    extra = mire__heap_extra(heap, MIRE_EXTRA_FRONT_BYTES);
    if (extra)
        mire__extra_begin(extra, facts);
    mire__objects_begin();
    err = mire__collect_begin(heap);
    if (err == MIRE_OK)
        err = mire__variant_hook_heap(&monitor.context->options->memory);
    if (err != MIRE_OK) {
        mire__collect_end();
        return err;
    }
    if (mire__heap_blocks_have_one_phase())
        mire__heap_flags_change(heap, MIRE_FLAG_ONE_PHASE, MIRE_FLAG_ONE_PHASE);
    monitor.heap = heap;
    mire__memory_reports_begin(monitor.context, heap);
    mire__collect_rest(ring, monitor.context->worker);
    return MIRE_OK;
}

/*
 * The process continues, or ends by itself: nothing is left to report, and the file is kept only for `mire memory`.
 * The mapping stays, because a thread inside a hook may still read its slot or the tables. Only the pages are freed.
 */
static void close_tables(void *context)
{
    struct heap *heap = monitor.heap;
    bool ended, kept = mire__variant.keeps_tables && !mire__worker_is_self(monitor.context->worker);

    (void)context;
    mire__memory_reports_end();
    mire__variant_unhook_heap(monitor.context->exits);
    ended = mire__collect_end();
    mire__heap_stop(heap);
    if (ended)
        mire__heap_retire(heap);
    if (ended && !kept)
        mire__pages_punch(monitor.file.memory, monitor.file.size);
    if (!kept)
        mire__store_tables_drop(monitor.context->store, monitor.run);
    monitor.heap = NULL;
}

enum mire_err mire__monitor_heap_set(enum mire_memory_mode mode, uint64_t interval_bytes)
{
    static const enum heap_mode modes[] = {MIRE_HEAP_OFF, MIRE_HEAP_SAMPLED, MIRE_HEAP_EXACT};

    if (interval_bytes == 0)
        interval_bytes = INTERVAL_INIT;
    if (!monitor.context)
        return MIRE_E_STATE;
    if (!monitor.heap)
        return mode == MIRE_MEMORY_OFF ? MIRE_OK : open_tables(mode, interval_bytes);
    return mire__heap_set_mode(monitor.heap, modes[mode], interval_bytes);
}

/* Apply the document; without a value in it the app's option holds. */
static enum mire_err set_as_planned(const struct memory_options *own)
{
    static const enum mire_memory_mode modes[] = {[MIRE_ROLLOUT_OFF] = MIRE_MEMORY_OFF,
                                                  [MIRE_ROLLOUT_SAMPLED] = MIRE_MEMORY_SAMPLED,
                                                  [MIRE_ROLLOUT_EXACT] = MIRE_MEMORY_EXACT};
    const struct rollout_memory *planned = &monitor.planned;

    return mire__monitor_heap_set(planned->mode == MIRE_ROLLOUT_AS_SET ? own->mode : modes[planned->mode],
                                  planned->interval_bytes ? planned->interval_bytes : own->interval_bytes);
}

static void start_as_planned(void *own)
{
    set_as_planned(own);
}

enum mire_err mire__monitor_heap_start(struct monitor_context *context)
{
    const struct rollout_memory *planned = &context->plan->rollout.memory;
    const struct memory_options *own = &context->options->memory;

    monitor.context = context;
    monitor.heap = NULL;
    monitor.budget_bytes = planned->budget_bytes ? planned->budget_bytes : own->budget_bytes;
    if (monitor.budget_bytes == 0)
        monitor.budget_bytes = BUDGET_INIT;
    if (monitor.budget_bytes < MIRE_HEAP_BUDGET_MIN)
        monitor.budget_bytes = MIRE_HEAP_BUDGET_MIN;
    monitor.planned = *planned;
    mire__apart_run(start_as_planned, (void *)(uintptr_t)own);
    return MIRE_OK;
}

void mire__monitor_heap_obey(const struct plan *plan)
{
    const struct rollout_memory *planned = &plan->rollout.memory;

    if (planned->mode == monitor.planned.mode && planned->interval_bytes == monitor.planned.interval_bytes)
        return;
    monitor.planned = *planned;
    if (monitor.heap)
        set_as_planned(&monitor.context->options->memory);
}

void mire__monitor_heap_stop(void)
{
    if (monitor.heap)
        mire__apart_run(close_tables, NULL);
    monitor.context = NULL;
}

uint64_t mire__monitor_heap_keep(struct worker *worker)
{
    uint64_t random, now_ns = mire__now_ns();
    struct heap_reclaimed kept;

    if (!monitor.heap)
        return UINT64_MAX;
    if (now_ns < monitor.kept_ns + KEEP_NS)
        return monitor.kept_ns + KEEP_NS;
    monitor.kept_ns = now_ns;
    mire__variant_rehook_heap(monitor.heap);
    mire__random(&random, sizeof(random));
    mire__collect_sweep(monitor.heap);
    mire__heap_reclaim(&kept, monitor.heap, now_ns, random);
    mire__collect_rest(ring, worker);
    return UINT64_MAX;
}
