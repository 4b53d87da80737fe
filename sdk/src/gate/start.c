/*
 * start.c - prepares the gate: the handlers of fork and quick_exit, and the functions behind the hooks.
 */
#include "gate/hooks.h"
#include "gate/leave.h"
#include "gate/state.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static void register_once(void)
{
    pthread_atfork(NULL, NULL, mire__gate_as_forked);
    at_quick_exit(mire__gate_as_leave_quickly);
    if (sysconf(_SC_PAGESIZE) <= MIRE_GATE_ALIGN)
        mire__pages_wipe_on_fork(mire__gates.lanes, offsetof(struct gates, after_lanes));
}

static void register_handlers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
}

void mire__gate_open(const struct gate_options *options)
{
    register_handlers();
    mire__hooks_find_terminals();
    mire__ticks_choose();
    mire__gate_publish(options, MIRE_WAITS_ALL);
}

void mire__gate_await(void (*start)(void *context), void *context)
{
    register_handlers();
    mire__hooks_find_terminals();
    mire__gates.on_child = start;
    mire__gates.context = context;
    mire__gates.pid = mire__pid();
    atomic_store(&mire__gates.awaits, 1);
    atomic_store(&mire__gates.lanes[0].state, MIRE_GATE_CHILD);
    mire__gate_as_set_own(&mire__gates.lanes[0]);
}

void mire__hooks_bind(void *handle)
{
    for (size_t i = 0; i < MIRE_HOOK_COUNT; i++)
        atomic_store_explicit(&mire__hooks[i].real, dlsym(handle, mire__hooks[i].name), memory_order_relaxed);
}

void mire__hook_bind_late(struct hook *hook)
{
    atomic_store_explicit(&hook->real, dlsym(RTLD_NEXT, hook->name), memory_order_relaxed);
}

enum mire_err mire__gate_patch(void)
{
    mire__hooks_bind(RTLD_DEFAULT);
    return atomic_load(&mire__hooks[0].real) ? mire__patch_add(mire__hooks, MIRE_HOOK_COUNT) : MIRE_E_SYSTEM;
}

void mire__gate_unpatch(void)
{
    mire__patch_remove(mire__hooks);
}
