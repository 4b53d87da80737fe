/*
 * calls.c - the public calls that tell of the process while it is watched. Those of a process that is not do nothing.
 */
#include "capture/demand.h"
#include "capture/scene.h"

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
