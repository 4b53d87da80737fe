/*
 * monitors.c - the table, one row a monitor; started top down, stopped bottom up.
 */
#include "core/monitors.h"

#include "allochook/allochook.h"
#include "capture/capture.h"
#include "core/core.h"
#include "core/exits.h"
#include "core/heap.h"
#include "core/session.h"
#include "exit/marker.h"
#include "exit/run.h"
#include "platform/platform.h"
#include "report/report.h"

#include <unistd.h>

/* Shall the ended record be sent? Then it is told what was held back of its stack before. */
static bool admit(struct monitor_context *monitor, struct hang *hang, struct blackbox *box, uint32_t lane)
{
    struct capture_settings settings;
    struct annealed_fact held;
    struct spine spine;

    mire__watch_settings(&settings);
    mire__spine_find(&spine, box, &box->lanes[lane].ring);
    if (mire__restraint_judge(&held, &monitor->restraint, monitor->store, hang, &spine, mire__now_ns(),
                              mire__wall_now_ms(), &settings) != MIRE_VERDICT_SEND)
        return false;
    hang->annealed.count += held.count;
    hang->annealed.duration_ms += held.duration_ms;
    hang->cost.stored_bytes = mire__store_written(monitor->store);
    mire__blackbox_set_hang(box, lane, hang);
    return true;
}

void mire__monitors_unkept(struct monitor_context *monitor)
{
    struct losses *losses = &monitor->box->losses;

    mire__store_count_drop(monitor->store, MIRE_DROP_WRITE);
    atomic_store(&losses->why, (uint32_t)mire__store_why(monitor->store));
    atomic_fetch_add(&losses->unkept, 1);
    mire__worker_ring(monitor->worker, MIRE_BELL_UNKEPT);
}

/* On the check thread, which writes nothing meanwhile. */
static void seal_hang(void *context, struct blackbox *box, uint32_t lane)
{
    struct monitor_context *monitor = context;
    struct hang hang;
    enum mire_err err;

    if (mire__session_is_over())
        return;
    mire__blackbox_hang(&hang, box, lane);
    mire__session_count(&box->session, lane, &hang);
    mire__session_note_check(box);
    if (!admit(monitor, &hang, box, lane))
        return;
    err = mire__report_seal(monitor->store, box, lane, NULL, mire__wall_now_ms());
    if (err == MIRE_E_MEMORY || err == MIRE_E_STORE) {
        mire__monitors_unkept(monitor);
        mire__restraint_undo(&monitor->restraint, monitor->store, &hang, mire__wall_now_ms());
    }
    mire__worker_ring(monitor->worker, MIRE_BELL_SEND);
}

/* The first lane and the process's are there from the start. */
bool mire__monitors_reserve(const struct monitor_context *monitor, uint32_t lane)
{
    size_t at = offsetof(struct blackbox, lanes) + lane * sizeof(struct lane);

    if (lane == 0 || !mire__blackbox_is_lacking(monitor->box, lane))
        return true;
    if (mire__store_box_reserve(monitor->file, at, sizeof(struct lane)) != MIRE_OK)
        return false;
    mire__blackbox_has(monitor->box, lane);
    return true;
}

static bool reserve_lane(void *context, uint32_t lane)
{
    return mire__monitors_reserve(context, lane);
}

/* Once a second at most. */
static void on_turning(void *context)
{
    struct monitor_context *monitor = context;

    mire__session_note_check(monitor->box);
    if (mire__variant_rehooks())
        mire__worker_ring(monitor->worker, MIRE_BELL_REHOOK);
}

static void ask_for_look(void *context)
{
    struct monitor_context *monitor = context;

    mire__worker_ring(monitor->worker, MIRE_BELL_LOOK);
}

static void tell_of_end(void *context)
{
    struct monitor_context *monitor = context;

    mire__worker_ring(monitor->worker, MIRE_BELL_GONE);
}

static void start_in_child(void *context)
{
    (void)context;
    mire__core_restart_in_child();
}

/* Nobody said whether the process has been launching for so long. A loop that idles would use little CPU. */
static bool has_idled(const struct monitor_context *context, uint64_t age_ns)
{
    return age_ns >= context->options->settings.launch_ms * MIRE_NS_PER_MS && mire__thread_cpu_ns(0) < age_ns / 2;
}

/*
 * When the launch began: the process started within a tick after what the kernel says. 0: it is not watched, or so old
 * that it cannot be a launch.
 */
static uint64_t launch_ns(const struct monitor_context *context)
{
    uint64_t tick_ns = MIRE_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t begun_ns = (context->box->facts.start_ticks + 1) * tick_ns, now_ns = mire__boot_now_ns();

    if (context->options->launch == MIRE_LAUNCH_NONE || begun_ns >= now_ns || now_ns - begun_ns > MIRE_LAUNCH_NS)
        return 0;
    if (context->options->launch == MIRE_LAUNCH_LIKELY && has_idled(context, now_ns - begun_ns))
        return 0;
    return mire__now_ns() - (now_ns - begun_ns);
}

static _Atomic uint32_t *left_how(void)
{
    struct evidence *evidence = mire__run_as_evidence();

    return evidence ? &evidence->left : NULL;
}

/* Its thread and its memory are ours. */
static enum mire_err start_watch(const struct watch_options *options)
{
    struct collect_thread *before = mire__collect_own_begin();
    enum mire_err err = mire__watch_start(options);

    mire__collect_own_end(before);
    return err;
}

static enum mire_err hang_start(struct monitor_context *context)
{
    const struct watch_options options = {
        .settings = context->options->settings,
        .box = context->box,
        .begun_ns = launch_ns(context),
        .names = context->options->threads,
        .names_count = context->options->threads_count,
        .on_lane = reserve_lane,
        .on_hang = seal_hang,
        .on_use = ask_for_look,
        .on_turning = on_turning,
        .on_gone = tell_of_end,
        .on_child = start_in_child,
        .left_how = left_how(),
        .context = context,
    };
    enum mire_err err = mire__variant_hook();

    if (err == MIRE_OK)
        err = start_watch(&options);
    if (err != MIRE_OK)
        mire__variant_unhook();
    return err;
}

static void hang_stop(void)
{
    mire__watch_stop();
    mire__variant_unhook();
}

static const struct monitor monitors[] = {
    {MIRE_PLUGIN_EXIT, mire__exits_start, mire__exits_stop},
    {MIRE_PLUGIN_MEMORY, mire__heap_monitor_start, mire__heap_monitor_stop},
    {MIRE_PLUGIN_HANG, hang_start, hang_stop},
};

bool mire__monitors_run(const struct monitor_context *context, enum mire__plugin plugin)
{
    return atomic_load_explicit(&context->running, memory_order_relaxed) >> plugin & 1;
}

enum mire_err mire__monitors_start(struct monitor_context *context)
{
    for (size_t i = 0; i < MIRE_COUNT(monitors); i++) {
        if (!context->plan->on[monitors[i].plugin])
            continue;
        enum mire_err err = monitors[i].start(context);
        if (err != MIRE_OK) {
            mire__monitors_stop(context, NULL);
            return err;
        }
        atomic_fetch_or_explicit(&context->running, 1u << monitors[i].plugin, memory_order_relaxed);
    }
    return MIRE_OK;
}

void mire__monitors_stop(struct monitor_context *context, const struct plan *plan)
{
    for (size_t i = MIRE_COUNT(monitors); i-- > 0;) {
        enum mire__plugin plugin = monitors[i].plugin;

        if (!mire__monitors_run(context, plugin) || (plan && plan->on[plugin]))
            continue;
        monitors[i].stop();
        atomic_fetch_and_explicit(&context->running, ~(1u << plugin), memory_order_relaxed);
    }
}

void mire__monitors_hush(struct monitor_context *context)
{
    if (mire__monitors_run(context, MIRE_PLUGIN_MEMORY))
        mire__heap_monitor_stop();
    atomic_fetch_and_explicit(&context->running, ~(1u << MIRE_PLUGIN_MEMORY), memory_order_relaxed);
    mire__marker_stop();
}

bool mire__monitors_any(const struct plan *plan)
{
    bool any = plan->on[MIRE_PLUGIN_SESSION]; /* it is counted in the blackbox */

    for (size_t i = 0; i < MIRE_COUNT(monitors); i++)
        any |= plan->on[monitors[i].plugin];
    return any;
}

void mire__monitors_obey(struct monitor_context *context, const struct plan *plan)
{
    struct capture_settings settings;

    for (int i = 0; i < MIRE_PLUGINS; i++)
        if (plan->ppm[i] < atomic_load(&context->box->facts.sampling_ppm[i]))
            atomic_store(&context->box->facts.sampling_ppm[i], plan->ppm[i]);
    if (mire__variant_takes_numbers()) {
        mire__watch_settings(&settings);
        mire__plan_numbers(&settings, &plan->rollout);
        mire__watch_apply(&settings);
    }
    mire__monitors_stop(context, plan);
    mire__heap_monitor_obey(plan);
}
