/*
 * state.c - see state.h.
 */
#include "core/state.h"

#include "core/core.h"
#include "platform/apart.h"
#include "platform/platform.h"

#include <sched.h>
#include <stdio.h>

struct core mire__core;

bool mire__core_turn(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&mire__core.state, &from, to, memory_order_acquire,
                                                   memory_order_relaxed);
}

uint32_t mire__core_settled(void)
{
    uint32_t state;

    while ((state = atomic_load_explicit(&mire__core.state, memory_order_acquire)) == MIRE_CORE_HELD &&
           mire__core.owner_pid == mire__pid())
        sched_yield();
    return state;
}

bool mire__core_enter(uint32_t *from, uint32_t to)
{
    do {
        *from = mire__core_settled();
        if (*from < MIRE_CORE_ON)
            return false;
    } while (!mire__core_turn(*from, to));
    return true;
}

void mire__core_leave(uint32_t to)
{
    atomic_store_explicit(&mire__core.state, to, memory_order_release);
}

static void call(void *work)
{
    (*(void (**)(void))work)();
}

void mire__core_apart(void (*work)(void))
{
    mire__apart_run(call, &work);
}

static void say(void *words)
{
    char name[MIRE_THREAD_NAME_BYTES], text[MIRE_STORE_WORDS_BYTES];

    mire__thread_name(name, mire__pid());
    snprintf(text, sizeof(text), "process %u (%s) %s", mire__pid(), name, (const char *)words);
    mire__store_say(mire__core.store, text);
}

void mire__core_say(const char *words)
{
    mire__apart_run(say, (void *)(uintptr_t)words);
}

const struct monitor_context *mire__core_monitors(void)
{
    return mire__core_settled() >= MIRE_CORE_ON && mire__core.owner_pid == mire__pid() ? &mire__core.monitors : NULL;
}
