/*
 * filter.h - programs that confine themselves with seccomp: evaluates a filter for the library's system calls.
 * Signal-safe.
 *
 * A filter applies to the thread that installs it and to all threads and processes that it creates, or to all threads
 * at once. A call that it does not allow fails, or ends the process. So from then on the library makes no system call
 * on a thread of the program; the check thread, to which the filter does not apply, looks every MIRE_QUIET_LOOK_NS.
 */
#ifndef MIRE_PLATFORM_FILTER_H
#define MIRE_PLATFORM_FILTER_H

#include "base/base.h"

#include <linux/filter.h>

#define MIRE_QUIET_LOOK_NS (100 * MIRE_NS_PER_MS)

enum mire__quiet {
    MIRE_QUIET_CALLS = 1,   /* the library makes no system call on the program's threads */
    MIRE_QUIET_SIGNALS = 2, /* and sends them no signal: they could not return from the handler */
};

/* A set of these; never fewer. Any thread of the program's adds, before its filter is in place. A forked child has it
 * too. */
extern _Atomic uint32_t mire__quiet;

static inline bool mire__quiet_is(void)
{
    return __builtin_expect(atomic_load_explicit(&mire__quiet, memory_order_relaxed) != 0, 0);
}

/* Is the calling thread one of the program's that makes no system call of ours any more? Those of platform.h ask for
 * themselves. */
bool mire__quiet_holds(void);

struct filter_call {
    int number;
    uint64_t args[6];
};

/*
 * Run a filter on a system call of this processor's.
 * Returns an action: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO and an errno, ...; SECCOMP_RET_KILL_PROCESS for a program
 * that is none.
 */
uint32_t mire__filter_run(const struct sock_filter *program, size_t count, const struct filter_call *call);

/*
 * How many filters the process's first thread has; where the kernel (before 5.9) does not count them, 1 for any. The
 * first call's answer is what the process began with.
 */
uint32_t mire__filter_count(void);

/* One that lets us has come. */
void mire__filter_know(void);

/* Are there more by now? Then one was set by a system call that nobody saw, and nobody knows what it lets through. */
void mire__filter_look(void);

/* The effect of a filter on the library. */
struct filter_verdict {
    bool readable; /* false: the kernel will refuse it, too */
    bool lets_us;  /* every system call of ours; those that we can do without may be refused with an errno */
    bool returns;  /* a signal's handler may return */
};

/* Judge a filter. given: struct sock_fprog, as the program is going to give it to the kernel; may point anywhere. */
void mire__filter_judge(struct filter_verdict *out, const void *given);

#endif
