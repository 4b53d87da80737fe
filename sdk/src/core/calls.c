/*
 * calls.c - the public calls that tell of the process while it is watched. Those of a process that is not do nothing.
 */
#include "capture/capture.h"
#include "capture/demand.h"
#include "capture/scene.h"
#include "core/core.h"
#include "core/monitors.h"
#include "core/options.h"
#include "gate/gate.h"
#include "mire/ping.h"

enum mire_err mire_watch_thread(const char *name)
{
    const struct monitor_context *monitors = mire__core_monitors();

    if (name && !mire__options_is_thread_name(name))
        return MIRE_E_ARG;
    if (!monitors)
        return MIRE_E_STATE;
    return !mire__monitors_run(monitors, MIRE_PLUGIN_HANG) || mire__gate_enter(0, name) >= 0 ? MIRE_OK : MIRE_E_FULL;
}

enum mire_err mire_unwatch_thread(void)
{
    if (!mire__core_monitors())
        return MIRE_E_STATE;
    mire_ping_stop();
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
