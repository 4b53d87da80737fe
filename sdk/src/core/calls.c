/*
 * calls.c - the public calls by which an app describes itself. They have no effect in a process that is not watched.
 */
#include "capture/capture.h"
#include "capture/demand.h"
#include "capture/scene.h"
#include "core/conditions.h"
#include "core/context.h"
#include "core/core.h"
#include "core/flush.h"
#include "core/memory_reports.h"
#include "core/monitor_exit.h"
#include "core/monitor_heap.h"
#include "core/process_session.h"
#include "core/state.h"
#include "core/variant.h"
#include "gate/gate.h"
#include "mire/exit.h"
#include "mire/ping.h"
#include "platform/platform.h"
#include "report/report.h"
#include "store/sending.h"

#define FLUSH_MAX_MS 600000u

enum mire_err mire_watch_thread(const char *name)
{
    const struct monitor_context *monitors = mire__core_monitors();

    if (name && !mire__options_is_thread_name(name))
        return MIRE_E_ARG;
    if (!monitors)
        return MIRE_E_STATE;
    if (!mire__monitor_runs(monitors, MIRE_PLUGIN_HANG))
        return MIRE_OK;
    return mire__gate_enter(0, name) >= 0 ? mire__variant_watch_thread() : MIRE_E_FULL;
}

enum mire_err mire_unwatch_thread(void)
{
    if (!mire__core_monitors())
        return MIRE_E_STATE;
    mire_ping_stop();
    mire__variant_unwatch_thread();
    mire__gate_exit();
    return MIRE_OK;
}

enum mire_err mire_set_number(const char *name, uint32_t value)
{
    if (!name)
        return MIRE_E_ARG;
    return mire__core_monitors() ? mire__watch_set(name, value) : MIRE_E_STATE;
}

enum mire_err mire_capture(const char *name)
{
    if (!name || !name[0])
        return MIRE_E_ARG;
    return mire__demand_capture(name, MIRE_TRIGGER_CALL, __builtin_return_address(0));
}

enum mire_err mire_test(void)
{
    return mire__demand_capture("test", MIRE_TRIGGER_TEST, __builtin_return_address(0));
}

void mire_frame_tick(uint64_t when_ns)
{
    mire__scene_tick(when_ns);
}

void mire_scene_begin(const char *name)
{
    mire__scene_begin(name);
}

void mire_scene_end(void)
{
    mire__scene_end();
}

void mire_loop_enter(void)
{
    mire__gate_as_mark_enter();
}

void mire_loop_leave(void)
{
    mire__gate_as_mark_leave();
}

void mire_loop_set_waits(int which)
{
    mire__gate_as_set_waits(which);
}

static void set_foreground(bool foreground)
{
    enum mire__ground ground = foreground ? MIRE_GROUND_FORE : MIRE_GROUND_BACK;

    mire__watch_set_foreground(ground);
    mire__monitor_exit_as_set_ground(ground);
    mire__process_session_as_set_front(foreground);
    mire__worker_wake(&mire__core.worker, MIRE_WAKE_LOOK);
}

void mire_set_foreground(int foreground)
{
    mire__context_as_set_state(foreground ? MIRE_APP_FOREGROUND : MIRE_APP_BACKGROUND);
    set_foreground(foreground != 0);
}

void mire_set_app_state(enum mire_app_state state)
{
    if ((unsigned)state >= MIRE_APP_STATES)
        return;
    mire__context_as_set_state(state);
    if (state != MIRE_APP_UNKNOWN)
        set_foreground(state == MIRE_APP_FOREGROUND || state == MIRE_APP_VISIBLE);
}

enum mire_err mire_memory_set(enum mire_memory_mode mode, uint32_t interval_bytes)
{
    uint32_t state;
    enum mire_err err = MIRE_E_STATE;

    if (mode < MIRE_MEMORY_OFF || mode > MIRE_MEMORY_EXACT ||
        (interval_bytes && (interval_bytes < MIRE_MEMORY_INTERVAL_MIN || interval_bytes > MIRE_MEMORY_INTERVAL_MAX)))
        return MIRE_E_RANGE;
    if (mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_HELD))
        return MIRE_E_STATE;
    if (state == MIRE_CORE_ON)
        err = mire__monitor_heap_set(mode, interval_bytes);
    mire__core_leave(state);
    return err;
}

enum mire_err mire_memory_report(const char *name)
{
    return mire__memory_reports_ask(name);
}

enum mire_err mire_metrickit(const void *json, size_t size_bytes)
{
    uint32_t state;
    enum mire_err err;

    if (!json)
        return MIRE_E_ARG;
    if (size_bytes > MIRE_REPORT_JSON_MAX)
        return MIRE_E_FULL;
    if (mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_HELD))
        return MIRE_E_STATE;
    err = mire__report_payload(mire__core.store, MIRE_FORMAT_METRICKIT, json, size_bytes,
                               &mire__core.monitors.box->facts, mire__wall_now_ms());
    if (err == MIRE_OK && mire__core.works)
        mire__worker_wake(&mire__core.worker, MIRE_WAKE_SEND);
    mire__core_leave(state);
    return err;
}

enum mire_err mire_set_consent(enum mire_consent consent)
{
    uint32_t state;
    enum mire_err err;

    if (consent < MIRE_CONSENT_UNKNOWN || consent > MIRE_CONSENT_REFUSED)
        return MIRE_E_RANGE;
    if (mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_HELD))
        return MIRE_E_STATE;
    err = mire__store_set_consent(mire__core.store, consent);
    if (err == MIRE_OK && mire__core.works)
        mire__worker_wake(&mire__core.worker, MIRE_WAKE_DELIVERY);
    else if (err == MIRE_OK)
        mire__store_refused(mire__core.store);
    mire__core_leave(state);
    return err;
}

enum mire_consent mire_get_consent(void)
{
    enum mire_consent consent;
    uint32_t state;

    if (mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_HELD))
        return MIRE_CONSENT_UNKNOWN;
    consent = mire__store_consent(mire__core.store);
    mire__core_leave(state);
    return consent;
}

void mire_set_network(enum mire_network network)
{
    if (network < MIRE_NETWORK_UNMETERED || network > MIRE_NETWORK_NONE)
        return;
    atomic_store_explicit(&mire__core.network, network, memory_order_relaxed);
    mire__condition_network(network);
    mire__worker_wake(&mire__core.worker, MIRE_WAKE_DELIVERY);
}

enum mire_err mire_flush(uint32_t timeout_ms)
{
    const struct monitor_context *monitors = mire__core_monitors();

    if (timeout_ms > FLUSH_MAX_MS)
        return MIRE_E_RANGE;
    return monitors ? mire__flush(monitors, mire__core.store, timeout_ms) : MIRE_E_STATE;
}
