/*
 * start.c - what the gate needs before it can be used: the fork handler, and the functions behind the hooks.
 */
#include "gate/gate.h"
#include "gate/hooks.h"
#include "gate/state.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <pthread.h>

static void register_once(void)
{
    pthread_atfork(NULL, NULL, mire__gate_as_forked);
}

static void register_fork_handler(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
}

void mire__gate_start(_Atomic uint32_t *wake, _Atomic uint64_t *left_ns, void (*on_child)(void *context), void *context)
{
    register_fork_handler();
    mire__gate.wake = wake;
    mire__gate.pid = mire__pid();
    atomic_store(&mire__gate.left, left_ns);
    mire__gate.on_child = on_child;
    mire__gate.context = context;
    mire__gate_as_open();
}

void mire__gate_await(void (*start)(void *context), void *context)
{
    register_fork_handler();
    mire__gate.on_child = start;
    mire__gate.context = context;
    mire__gate_as_await();
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
