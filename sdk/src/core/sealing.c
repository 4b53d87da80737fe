/*
 * sealing.c - see sealing.h.
 */
#include "core/sealing.h"

#include "capture/capture.h"
#include "core/core.h"
#include "platform/platform.h"
#include "report/report.h"

#define NAP_NS MIRE_NS_PER_MS

/* The rate limiter and the counts of turns in reports are for one thread at a time. */
static void begin(struct monitor_context *monitor)
{
    while (atomic_exchange(&monitor->seals, 1) != 0)
        mire__futex_wait(&monitor->seals, 1, mire__now_ns() + NAP_NS);
}

static void end(struct monitor_context *monitor)
{
    atomic_store(&monitor->seals, 0);
}

/* May the ended event be sent? If so, it gets the suppressed events of its stack. */
static bool admit(struct monitor_context *monitor, struct event *event, struct blackbox *box, uint32_t lane)
{
    struct capture_settings settings;
    struct suppressed_fact held;
    struct stack_signature signature;

    mire__watch_settings(&settings);
    mire__signature_find(&signature, box, &box->lanes[lane].ring);
    if (mire__rate_limiter_judge(&held, &monitor->limiter, monitor->store, event, &signature, mire__now_ns(),
                                 mire__wall_now_ms(), &settings) != MIRE_VERDICT_SEND)
        return false;
    event->suppressed.count += held.count;
    event->suppressed.duration_ms += held.duration_ms;
    event->cost.stored_bytes = mire__store_written(monitor->store);
    mire__blackbox_set_event(box, lane, event);
    return true;
}

static void seal(struct monitor_context *monitor, uint32_t lane)
{
    struct blackbox *box = monitor->box;
    struct event event;
    enum mire_err err;

    mire__blackbox_event(&event, box, lane);
    if (!admit(monitor, &event, box, lane))
        return;
    err = mire__report_seal(monitor->store, box, lane, NULL, mire__wall_now_ms());
    if (err == MIRE_E_MEMORY || err == MIRE_E_STORE) {
        mire__monitor_unkept(monitor);
        mire__rate_limiter_undo(&monitor->limiter, monitor->store, &event, mire__wall_now_ms());
    }
    mire__worker_wake(monitor->worker, MIRE_WAKE_SEND);
}

/* A waiting lane without an event, and with disk; 0: there is none. */
static uint32_t free_lane(const struct monitor_context *monitor)
{
    for (uint32_t lane = MIRE_LANE_WAITING; lane < MIRE_LANES; lane++)
        if (!mire__blackbox_is_ended(monitor->box, lane) && mire__monitor_reserve(monitor, lane))
            return lane;
    return 0;
}

void mire__sealing_take(struct monitor_context *monitor, uint32_t lane)
{
    uint32_t waiting = free_lane(monitor);

    if (waiting) {
        atomic_fetch_add(&monitor->waiting, 1);
        mire__blackbox_move(monitor->box, waiting, lane);
        mire__worker_wake(monitor->worker, MIRE_WAKE_SEAL);
        return;
    }
    begin(monitor);
    seal(monitor, lane);
    end(monitor);
}

/* The event that ended first; 0: there is none. */
static uint32_t next_lane(const struct blackbox *box)
{
    uint64_t first_ns = UINT64_MAX;
    uint32_t next = 0;

    for (uint32_t lane = MIRE_LANE_WAITING; lane < MIRE_LANES; lane++) {
        struct event event;

        mire__blackbox_event(&event, box, lane);
        if (event.state != MIRE_EVENT_ENDED || event.end_ns >= first_ns)
            continue;
        first_ns = event.end_ns;
        next = lane;
    }
    return next;
}

void mire__sealing_work(struct monitor_context *monitor)
{
    uint32_t lane;

    if (!monitor->box)
        return;
    begin(monitor);
    while ((lane = next_lane(monitor->box))) {
        seal(monitor, lane);
        mire__blackbox_clear(monitor->box, lane);
        atomic_fetch_sub(&monitor->waiting, 1);
    }
    end(monitor);
}

bool mire__sealing_settled(const struct monitor_context *monitor)
{
    return atomic_load(&monitor->waiting) == 0;
}
