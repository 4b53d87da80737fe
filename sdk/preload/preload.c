/*
 * preload.c - libmire-preload.so: the SDK for an unchanged program.
 *
 * `mire-run` starts a program with this library in LD_PRELOAD and its settings in MIRE_*. The program's children
 * inherit both, so each process of the tree is watched by itself: a forked child from its first waiting call on, and an
 * executed one too. The process that mire-run started is watched from the beginning, with its launch. The environment
 * is not changed here. Without MIRE_APP, or in a program with a sanitizer, nothing starts.
 *
 * The loader itself ignores the library in set-user-id programs, and static ones never ask it.
 */
#include "allochook/allochook.h"
#include "core/core.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/filter.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "preload/child.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void start_at_first_wait(void *context)
{
    (void)context;
    mire__core_start_from_environment(false);
}

/* Is this the process that mire-run started, with any program? Its helpers have other numbers. */
static bool is_first(void)
{
    const char *number = getenv(CHILD_NUMBER);

    return number && strtoul(number, NULL, 10) == (unsigned long)getpid();
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
    mire__hooks_bind(RTLD_NEXT);
    mire__heap_bind(RTLD_NEXT);
    if (!getenv("MIRE_APP") || mire__own_is_sanitized())
        return;
    if (is_confined()) {
        atomic_store(&mire__quiet, MIRE_QUIET_CALLS | MIRE_QUIET_SIGNALS);
        return;
    }
    if (is_first())
        mire__core_start_from_environment(true);
    else
        mire__gate_await(start_at_first_wait, NULL);
}

__attribute__((destructor)) static void end(void)
{
    mire_stop(NULL);
}
