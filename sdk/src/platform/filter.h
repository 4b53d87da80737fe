/*
 * filter.h - programs that confine themselves with seccomp: evaluates a filter for the library's system calls.
 * Signal-safe.
 *
 * A filter applies to the thread that installs it and to all threads and processes that it creates, or to all threads
 * at once. A call that the filter does not allow fails, or ends the process. So from then on the library makes no
 * system call on a thread of the program. The check thread, to which the filter does not apply, looks every
 * MIRE_QUIET_LOOK_NS.
 */
#ifndef MIRE_PLATFORM_FILTER_H
#define MIRE_PLATFORM_FILTER_H

#include "platform/quiet.h"

#include <linux/filter.h>

struct filter_call {
    int number;
    uint64_t args[6];
};

/*
 * Run a filter on a system call of this processor. Returns an action: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO and an
 * errno, ...; SECCOMP_RET_KILL_PROCESS for an invalid program.
 */
uint32_t mire__filter_run(const struct sock_filter *program, size_t count, const struct filter_call *call);

/*
 * Number of filters on the process's first thread; 1 for any number if the kernel (before 5.9) does not count them. The
 * first result is that of the process's begin.
 */
uint32_t mire__filter_count(void);

/* A filter that allows the library's calls has been installed. */
void mire__filter_know(void);

/* Look for more filters. An uncounted one was installed by a system call that the library did not see, so its rules are
 * unknown. */
void mire__filter_look(void);

/* The effect of a filter on the library. */
struct filter_verdict {
    bool readable; /* false: the kernel will refuse it too */
    bool lets_us;  /* every system call of the library; optional ones may be refused with an errno */
    bool returns;  /* a signal's handler may return */
};

/* Judge a filter. given: struct sock_fprog, as the program is going to give it to the kernel; may point anywhere. */
void mire__filter_judge(struct filter_verdict *out, const void *given);

#endif
