/*
 * quiet.h - may the library make system calls on the program's threads? Not after the program has confined itself
 * (filter.h); elsewhere always. Signal-safe.
 */
#ifndef MIRE_PLATFORM_QUIET_H
#define MIRE_PLATFORM_QUIET_H

#include "base/base.h"

#define MIRE_QUIET_LOOK_NS (100 * MIRE_NS_PER_MS)

enum mire__quiet {
    MIRE_QUIET_CALLS = 1,   /* the library makes no system call on the program's threads */
    MIRE_QUIET_SIGNALS = 2, /* and no signals go to these threads: they could not return from the handler */
};

/* A set of these bits, which only grows. Any thread of the program sets a bit before its filter is in place. A forked
 * child inherits the set. */
extern _Atomic uint32_t mire__quiet;

static inline bool mire__quiet_is(void)
{
    return __builtin_expect(atomic_load_explicit(&mire__quiet, memory_order_relaxed) != 0, 0);
}

/* Is the calling thread one of the program's, and makes no system call of the library any more? The functions of
 * platform.h ask this themselves. */
bool mire__quiet_holds(void);

#endif
