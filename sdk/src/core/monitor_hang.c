/*
 * monitor_hang.c - see monitor_hang.h.
 */
#include "core/monitor_hang.h"

#include "allochook/allochook.h"
#include "capture/capture.h"
#include "core/core.h"
#include "core/process_session.h"
#include "core/sealing.h"
#include "exit/run.h"
#include "platform/platform.h"

#include <unistd.h>

/* Called on the check thread, so the event does not change meanwhile. */
static void take_event(void *context, struct blackbox *box, uint32_t lane)
{
    struct event event;

    if (mire__process_session_is_over())
        return;
    mire__blackbox_event(&event, box, lane);
    mire__session_count(&box->session, lane, &event);
    mire__process_session_note_check(box);
    mire__sealing_take(context, lane);
}

static bool reserve_lane(void *context, uint32_t lane)
{
    return mire__monitor_reserve(context, lane);
}

/* Called at most once a second. */
static void on_turning(void *context)
{
    struct monitor_context *monitor = context;

    mire__process_session_note_check(monitor->box);
    if (mire__variant.rehooks)
        mire__worker_wake(monitor->worker, MIRE_WAKE_REHOOK);
}

static void ask_for_look(void *context)
{
    struct monitor_context *monitor = context;

    mire__worker_wake(monitor->worker, MIRE_WAKE_LOOK);
}

static void drop_ended(void *context)
{
    struct monitor_context *monitor = context;

    mire__worker_wake(monitor->worker, MIRE_WAKE_GONE);
}

static void start_in_child(void *context)
{
    (void)context;
    mire__core_restart_in_child();
}

/* Has the process waited in a loop before the watch began? Then it has used little CPU for its age. */
static bool has_idled(const struct monitor_context *context, uint64_t age_ns)
{
    return age_ns >= context->options->settings.launch_ms * MIRE_NS_PER_MS && mire__thread_cpu_ns(0) < age_ns / 2;
}

/* The time since the launch began: the process started within a tick after the kernel's time. */
static uint64_t launch_age_ns(const struct monitor_context *context)
{
    uint64_t tick_ns = MIRE_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);

    if (context->options->launch_ns)
        return mire__minus(mire__now_ns(), context->options->launch_ns);
    return mire__minus(mire__boot_now_ns(), (context->box->facts.start_ticks + 1) * tick_ns);
}

/* The begin of the launch. 0: launches are not watched, or the process is too old for a launch. */
static uint64_t launch_ns(const struct monitor_context *context)
{
    uint64_t age_ns = launch_age_ns(context);

    if (context->options->launch == MIRE_LAUNCH_NONE || age_ns == 0 || age_ns > MIRE_LAUNCH_NS)
        return 0;
    if (context->options->launch == MIRE_LAUNCH_LIKELY && has_idled(context, age_ns))
        return 0;
    return mire__now_ns() - age_ns;
}

static _Atomic uint32_t *left_how(void)
{
    struct evidence *evidence = mire__run_as_evidence();

    return evidence ? &evidence->left : NULL;
}

/* The check thread and its memory belong to the SDK, not to the program. */
static enum mire_err start_watch(const struct watch_options *options)
{
    struct collect_thread *before = mire__collect_own_begin();
    enum mire_err err = mire__watch_start(options);

    mire__collect_own_end(before);
    return err;
}

enum mire_err mire__monitor_hang_start(struct monitor_context *context)
{
    const struct watch_options options = {
        .settings = context->options->settings,
        .box = context->box,
        .begun_ns = launch_ns(context),
        .names = context->options->threads,
        .names_count = context->options->threads_count,
        .on_lane = reserve_lane,
        .on_event = take_event,
        .on_use = ask_for_look,
        .on_turning = on_turning,
        .on_gone = drop_ended,
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

void mire__monitor_hang_stop(void)
{
    mire__watch_stop();
    mire__variant_unhook();
}
