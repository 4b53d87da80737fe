/*
 * preload.c - libmire-preload.so: the SDK for an unchanged program.
 *
 * `mire-run` starts a program with this library in LD_PRELOAD and its settings in MIRE_*. The program's children
 * inherit both, so each process of the tree is watched separately: a forked or executed child from its first waiting
 * call on. The process that mire-run started is watched from the beginning, with its launch. The library does not
 * change the environment. Without MIRE_APP, or in a program with a sanitizer, nothing starts.
 *
 * The loader ignores LD_PRELOAD in set-user-id programs, and static programs have no loader.
 */
#include "allochook/allochook.h"
#include "core/core.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/filter.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "platform/signal.h"
#include "preload/child.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void start_at_first_wait(void *context)
{
    (void)context;
    mire__core_start_from_environment(false, 0);
}

/* The time in CHILD_NUMBER, for the next program that this process executes; NULL: not the first process. */
static char *executed_at;

static void note_execution(uint64_t now_ns)
{
    char *number = executed_at ? executed_at - CHILD_PID_DIGITS - 1 : NULL;

    /* A program may have overwritten its environment, to show another title. */
    if (number && strtoul(number, NULL, 10) == (unsigned long)getpid())
        child_write_digits(executed_at, CHILD_TIME_DIGITS, now_ns);
}

/*
 * Is this the process that mire-run started, with any program? Its helpers have other numbers.
 *
 *   begun_ns_out  the time at which the process executed this program. The time of the next program is unknown unless this
 *                 program passes it on: bash, for example, passes a copy of its environment.
 */
static bool is_first(uint64_t *begun_ns_out)
{
    char *number = getenv(CHILD_NUMBER), *end = NULL;

    if (!number || strtoul(number, &end, 10) != (unsigned long)getpid())
        return false;
    atomic_store(&mire__signal_parent_continues, 1);
    *begun_ns_out = 0;
    if (strlen(number) == strlen(CHILD_NUMBER_EMPTY)) {
        executed_at = end + 1;
        *begun_ns_out = strtoull(executed_at, NULL, 10);
        if (*begun_ns_out == 0)
            *begun_ns_out = mire__now_ns();
        child_write_digits(executed_at, CHILD_TIME_DIGITS, 0);
        mire__gate_on_exec(note_execution);
    }
    return true;
}

/*
 * Was this process confined before its begin, by a filter that mire-run does not have? The rules of the filter are
 * unknown, except that the loader's calls work: a file can be read.
 */
static bool is_confined(void)
{
    const char *of_mire_run = getenv("MIRE_FILTERS");
    uint32_t count = mire__filter_count();

    return count > (of_mire_run ? (uint32_t)strtoul(of_mire_run, NULL, 10) : 0);
}

__attribute__((constructor)) static void begin(void)
{
    uint64_t begun_ns;

    mire__hooks_bind(RTLD_NEXT);
    mire__heap_bind(RTLD_NEXT);
    if (!getenv("MIRE_APP") || mire__own_is_sanitized())
        return;
    if (is_confined()) {
        atomic_store(&mire__quiet, MIRE_QUIET_CALLS | MIRE_QUIET_SIGNALS);
        return;
    }
    if (is_first(&begun_ns))
        mire__core_start_from_environment(true, begun_ns);
    else
        mire__gate_await(start_at_first_wait, NULL);
}

__attribute__((destructor)) static void end(void)
{
    mire_stop(NULL);
}
