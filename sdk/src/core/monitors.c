/*
 * monitors.c - the table, one row a monitor; started top down, stopped bottom up.
 */
#include "core/monitors.h"

#include "capture/capture.h"
#include "core/core.h"
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
    mire__blackbox_hang(hang, box, lane);
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

/* On the check thread, which writes nothing meanwhile. */
static void seal_hang(void *context, struct blackbox *box, uint32_t lane)
{
    struct monitor_context *monitor = context;
    struct hang hang;
    enum mire_err err;

    if (!admit(monitor, &hang, box, lane))
        return;
    err = mire__report_seal(monitor->store, box, lane, mire__wall_now_ms());
    if (err == MIRE_E_MEMORY || err == MIRE_E_STORE) {
        mire__store_count_drop(monitor->store, MIRE_DROP_WRITE);
        mire__restraint_undo(&monitor->restraint, monitor->store, &hang, mire__wall_now_ms());
    }
    mire__worker_ring(monitor->worker, MIRE_BELL_SEND);
}

/* The first lane and the process's are there from the start. */
static bool reserve_lane(void *context, uint32_t lane)
{
    const struct monitor_context *monitor = context;
    size_t at = offsetof(struct blackbox, lanes) + lane * sizeof(struct lane);

    return lane == 0 || mire__store_box_reserve(monitor->file, at, sizeof(struct lane)) == MIRE_OK;
}

static void ask_for_rehook(void *context)
{
    struct monitor_context *monitor = context;

    mire__worker_ring(monitor->worker, MIRE_BELL_REHOOK);
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
        .on_turning = mire__variant_rehooks() ? ask_for_rehook : NULL,
        .on_gone = tell_of_end,
        .on_child = start_in_child,
        .context = context,
    };
    enum mire_err err = mire__variant_hook();

    if (err == MIRE_OK)
        err = mire__watch_start(&options);
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
    {"hang", hang_start, hang_stop},
};

enum mire_err mire__monitors_start(struct monitor_context *context)
{
    for (size_t i = 0; i < MIRE_COUNT(monitors); i++) {
        enum mire_err err = monitors[i].start(context);
        if (err == MIRE_OK)
            continue;
        while (i-- > 0)
            monitors[i].stop();
        return err;
    }
    return MIRE_OK;
}

void mire__monitors_stop(void)
{
    for (size_t i = MIRE_COUNT(monitors); i-- > 0;)
        monitors[i].stop();
}
