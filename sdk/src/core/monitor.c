/*
 * monitor.c - see monitor.h.
 */
#include "core/monitor.h"

bool mire__monitor_runs(const struct monitor_context *context, enum mire__plugin plugin)
{
    return atomic_load_explicit(&context->running, memory_order_relaxed) >> plugin & 1;
}

void mire__monitor_unkept(struct monitor_context *monitor)
{
    struct losses *losses = &monitor->box->losses;

    mire__store_count_drop(monitor->store, MIRE_DROP_WRITE);
    atomic_store(&losses->why, (uint32_t)mire__store_why(monitor->store));
    atomic_fetch_add(&losses->unkept, 1);
    mire__worker_wake(monitor->worker, MIRE_WAKE_UNKEPT);
}

/* The first lane and the lane of the process are reserved from the start. */
bool mire__monitor_reserve(const struct monitor_context *monitor, uint32_t lane)
{
    size_t at = offsetof(struct blackbox, lanes) + lane * sizeof(struct lane);

    if (lane == 0 || !mire__blackbox_is_unreserved(monitor->box, lane))
        return true;
    if (mire__store_box_reserve(monitor->file, at, sizeof(struct lane)) != MIRE_OK)
        return false;
    mire__blackbox_has(monitor->box, lane);
    return true;
}
