/*
 * monitors.c - the table, one row a monitor; started top down, stopped bottom up.
 */
#include "core/monitors.h"

#include "capture/capture.h"
#include "core/monitor_exit.h"
#include "core/monitor_hang.h"
#include "core/monitor_heap.h"
#include "exit/marker.h"

static const struct monitor monitors[] = {
    {MIRE_PLUGIN_EXIT, mire__monitor_exit_start, mire__monitor_exit_stop},
    {MIRE_PLUGIN_MEMORY, mire__monitor_heap_start, mire__monitor_heap_stop},
    {MIRE_PLUGIN_HANG, mire__monitor_hang_start, mire__monitor_hang_stop},
};

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

        if (!mire__monitor_runs(context, plugin) || (plan && plan->on[plugin]))
            continue;
        monitors[i].stop();
        atomic_fetch_and_explicit(&context->running, ~(1u << plugin), memory_order_relaxed);
    }
}

void mire__monitors_hush(struct monitor_context *context)
{
    if (mire__monitor_runs(context, MIRE_PLUGIN_MEMORY))
        mire__monitor_heap_stop();
    atomic_fetch_and_explicit(&context->running, ~(1u << MIRE_PLUGIN_MEMORY), memory_order_relaxed);
    mire__marker_stop();
}

bool mire__monitors_any(const struct plan *plan)
{
    bool any = plan->on[MIRE_PLUGIN_SESSION]; /* sessions are counted in the blackbox */

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
    if (mire__variant.takes_numbers) {
        mire__watch_settings(&settings);
        mire__plan_numbers(&settings, &plan->rollout);
        mire__watch_apply(&settings);
    }
    mire__monitors_stop(context, plan);
    mire__monitor_heap_obey(plan);
}
