/*
 * holder.h - a lock that a forked child can take although a thread of its parent held it, which the child does not have.
 * The word is the id of the process whose thread holds it, 0 while it is free.
 */
#ifndef MIRE_PLATFORM_HOLDER_H
#define MIRE_PLATFORM_HOLDER_H

#include "platform/platform.h"

#include <stdatomic.h>

/* Returns false if a thread of another process was at work: the state may be half written. */
static inline bool mire__holder_take(_Atomic uint32_t *holder)
{
    uint32_t own = mire__pid(), who = 0;

    while (!atomic_compare_exchange_weak_explicit(holder, &who, own, memory_order_acquire, memory_order_relaxed)) {
        if (who == own) {
            mire__yield();
            who = 0;
        }
    }
    return who == 0;
}

static inline void mire__holder_leave(_Atomic uint32_t *holder)
{
    atomic_store_explicit(holder, 0, memory_order_release);
}

#endif
