/*
 * memory_reports.c - see memory_reports.h.
 *
 *     asked:  IDLE --mire__memory_reports_ask--> FILLING --> ASKED --worker--> IDLE, when the report is sealed
 */
#include "core/memory_reports.h"

#include "allochook/allochook.h"
#include "base/alloc.h"
#include "capture/capture.h"
#include "core/due.h"
#include "exit/run.h"
#include "exit/trail.h"
#include "heap/heap.h"
#include "platform/platform.h"
#include "report/areas.h"
#include "report/memory.h"

#include <string.h>

enum { IDLE, FILLING, ASKED };

#define NAME_BYTES 64

/* Looks at mappings take at most this part of a processor's time, while the footprint moves by steps. */
#define LOOK_SHARE 2000u

static struct {
    _Atomic(struct monitor_context *) context; /* NULL: there are no tables */
    _Atomic(struct heap *) heap;               /* the tables */
    _Atomic uint32_t asked;                    /* see above; FILLING owns the name, ASKED hands it over */
    _Atomic uint32_t pid; /* the owning process: a forked child inherits the state, and has no worker */
    char name[NAME_BYTES];
    struct due due; /* owner: the worker, or the thread that begins */
    /* Owner: the worker. Footprint, time and CPU time of the last look at mappings. */
    uint64_t looked_bytes, looked_ns, look_took_ns;
} memory;

void mire__memory_reports_begin(struct monitor_context *context, struct heap *heap)
{
    memset(&memory.due, 0, sizeof(memory.due));
    memory.looked_bytes = memory.looked_ns = memory.look_took_ns = 0;
    memory.due.start_ns = mire__now_ns();
    atomic_store(&memory.asked, IDLE);
    atomic_store(&memory.pid, mire__pid());
    atomic_store(&memory.heap, heap);
    atomic_store(&memory.context, context);
}

void mire__memory_reports_end(void)
{
    atomic_store(&memory.context, NULL);
    atomic_store(&memory.heap, NULL);
    atomic_store(&memory.asked, IDLE);
}

enum mire_err mire__memory_reports_ask(const char *name)
{
    struct monitor_context *context = atomic_load(&memory.context);
    uint32_t idle = IDLE;

    if (!context || atomic_load(&memory.pid) != mire__pid())
        return MIRE_E_STATE;
    if (!atomic_compare_exchange_strong(&memory.asked, &idle, FILLING))
        return MIRE_E_TIMEOUT;
    mire__text_copy(memory.name, sizeof(memory.name), name);
    atomic_store(&memory.asked, ASKED);
    mire__worker_wake(context->worker, MIRE_WAKE_LOOK);
    return MIRE_OK;
}

bool mire__memory_reports_settled(void)
{
    return atomic_load(&memory.asked) == IDLE || atomic_load(&memory.pid) != mire__pid();
}

/* The data of one report. */
struct moment {
    struct memory_said said;
    struct residence residence; /* open while the tables are read */
    struct areas areas;         /* before the report allocates */
    struct process_use use;
    struct trail_row rows[MIRE_TRAIL_ROWS];
};

static void look_around(struct moment *moment, const struct monitor_context *context, struct heap *heap)
{
    const struct evidence *evidence = mire__run_as_evidence();
    struct process_counters now;
    uint8_t id[16];

    mire__uuid7(id);
    mire__process_counters(&now);
    moment->use = (struct process_use){.cpu_user_ms = now.cpu_user_ms,
                                       .cpu_system_ms = now.cpu_system_ms,
                                       .rss_bytes = now.rss_bytes,
                                       .thread_count = now.thread_count};
    moment->said = (struct memory_said){.facts = &context->box->facts,
                                        .app = &context->box->context,
                                        .use = &moment->use,
                                        .taken_ns = mire__now_ns(),
                                        .taken_wall_ms = mire__wall_now_ms(),
                                        .ground = MIRE_GROUND_UNKNOWN,
                                        .trail = moment->rows,
                                        .resident = mire__residence_bytes,
                                        .residence = &moment->residence,
                                        .extra = mire__heap_extra(heap, sizeof(struct memory_extra)),
                                        .caps = MIRE_MEMORY_CAPS_INIT};
    mire__memory_id(moment->said.id, id);
    if (!evidence)
        return;
    moment->said.ground = atomic_load(&evidence->ground) & 3;
    moment->said.trail_rows = mire__trail_copy(moment->rows, evidence);
    moment->said.footprint_peak_bytes = atomic_load(&evidence->footprint_peak_bytes);
}

static void settings_of(struct capture_settings *out, const struct monitor_context *context)
{
    *out = context->options->settings;
    if (mire__monitor_runs(context, MIRE_PLUGIN_HANG))
        mire__watch_settings(out);
}

/*
 * Has the footprint changed since the last look at mappings? Then the report of a killed run would have old values. A
 * look asks the kernel about each page, so growth by a half causes a look at once, and smaller changes wait.
 */
static bool has_moved(uint64_t footprint_bytes)
{
    uint64_t looked = memory.looked_bytes,
             apart = footprint_bytes > looked ? footprint_bytes - looked : looked - footprint_bytes;

    return apart > looked / 2 ||
           (apart > looked / 8 && mire__now_ns() - memory.looked_ns >= memory.look_took_ns * LOOK_SHARE);
}

/* Before the report allocates memory, which would count as the process's. */
static void begin_look(struct moment *moment, struct heap *heap)
{
    mire__objects_sweep(heap);
    mire__mappings_sweep(heap);
    mire__residence_open(&moment->residence);
    moment->said.areas = mire__areas_read(&moment->areas) == MIRE_OK ? &moment->areas : NULL;
}

static void end_look(struct moment *moment)
{
    mire__areas_fini(&moment->areas);
    mire__residence_close(&moment->residence);
}

static void look_at_mappings(struct heap *heap, struct moment *moment)
{
    struct heap_reader *reader;

    moment->said = (struct memory_said){.taken_ns = mire__now_ns(),
                                        .resident = mire__residence_bytes,
                                        .residence = &moment->residence,
                                        .extra = mire__heap_extra(heap, MIRE_EXTRA_FRONT_BYTES)};
    begin_look(moment, heap);
    reader = mire__malloc(sizeof(*reader));
    if (reader && moment->said.extra && mire__read_open(reader, heap->header, heap->header->size_bytes) == MIRE_READ_OK)
        mire__memory_look_at_mappings(reader, &moment->said);
    end_look(moment);
    mire__free(reader);
}

/* said.trigger is NULL for a snapshot without a report. */
static void read_tables(struct monitor_context *context, struct heap *heap, struct moment *moment)
{
    struct heap_reader *reader;
    enum mire_err err = MIRE_E_MEMORY;

    begin_look(moment, heap);
    reader = mire__malloc(sizeof(*reader));
    if (reader && mire__read_open(reader, heap->header, heap->header->size_bytes) == MIRE_READ_OK)
        err = moment->said.trigger ? mire__memory_seal(context->store, reader, &moment->said, mire__wall_now_ms())
                                   : mire__memory_snapshot(reader, &moment->said);
    end_look(moment);
    mire__free(reader);
    if (!moment->said.trigger)
        return;
    if (err == MIRE_E_MEMORY || err == MIRE_E_STORE)
        mire__monitor_unkept(context);
    mire__worker_wake(context->worker, MIRE_WAKE_SEND);
}

static void report(struct monitor_context *context, struct heap *heap, struct moment *moment, const char *trigger,
                   const char *name)
{
    struct capture_settings settings;

    settings_of(&settings, context);
    if (context->options->read_gauges)
        context->options->read_gauges(context->options->gauges_context);
    look_around(moment, context, heap);
    moment->said.trigger = trigger;
    moment->said.name = name && name[0] ? name : NULL;
    if (trigger && strcmp(trigger, mire__due_trigger(MIRE_DUE_FOOTPRINT)) == 0)
        moment->said.threshold_bytes = (uint64_t)settings.footprint_kib << 10;
    read_tables(context, heap, moment);
}

static void answer(struct monitor_context *context, struct heap *heap, struct moment *moment)
{
    if (atomic_load(&memory.asked) != ASKED)
        return;
    report(context, heap, moment, "demand", memory.name);
    mire__due_reported(&memory.due, mire__now_ns());
    atomic_store(&memory.asked, IDLE);
}

void mire__memory_reports_look(void)
{
    struct monitor_context *context = atomic_load(&memory.context);
    struct heap *heap = context ? atomic_load(&memory.heap) : NULL;
    struct moment *moment = heap ? mire__malloc(sizeof(*moment)) : NULL;
    struct capture_settings settings;
    const struct evidence *evidence = mire__run_as_evidence();
    enum memory_due due = MIRE_DUE_NOTHING;
    struct memory_extra *extra;
    uint32_t rows;

    if (!moment) {
        atomic_store(&memory.asked, IDLE);
        return;
    }
    answer(context, heap, moment);
    settings_of(&settings, context);
    rows = evidence ? mire__trail_copy(moment->rows, evidence) : 0;
    extra = rows > 0 ? mire__heap_extra(heap, MIRE_EXTRA_FRONT_BYTES) : NULL;
    if (extra)
        mire__extra_set_trail(extra, moment->rows, rows, atomic_load(&evidence->footprint_peak_bytes));
    if (rows > 0)
        due = mire__due(&memory.due, &moment->rows[rows - 1], mire__now_ns(), &settings);
    /* No look at the start: the program has not touched its memory yet. */
    if (rows > 1 && has_moved(moment->rows[rows - 1].footprint_bytes)) {
        memory.looked_bytes = moment->rows[rows - 1].footprint_bytes;
        memory.looked_ns = mire__now_ns();
        if (due == MIRE_DUE_NOTHING) {
            uint64_t begun_ns = mire__thread_cpu_ns(0);

            look_at_mappings(heap, moment);
            memory.look_took_ns = mire__thread_cpu_ns(0) - begun_ns;
        }
    }
    if (due != MIRE_DUE_NOTHING)
        report(context, heap, moment, mire__due_trigger(due), NULL);
    mire__free(moment);
}
