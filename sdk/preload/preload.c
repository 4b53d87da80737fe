/*
 * preload.c - libmire-preload.so: the SDK for a program that knows nothing of it.
 *
 * `mire-run` starts a program with LD_PRELOAD naming this library and MIRE_* telling what to do. The program's children
 * inherit both, so a whole tree of processes is watched, each for itself: a forked child from its first waiting call
 * on, an executed one too, unless it is the one that mire-run started, which is watched from the beginning, its launch
 * included. Nothing is added to or taken from the environment here. Without MIRE_APP nothing starts, nor in a program
 * with a sanitizer.
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

/* Is this process the one that mire-run started, by whatever program? Its helpers have other numbers. */
static bool is_first(void)
{
    const char *number = getenv(CHILD_NUMBER);

    return number && strtoul(number, NULL, 10) == (unsigned long)getpid();
}

/*
 * Has somebody confined this process before it began, with a filter that mire-run does not have? Nobody knows what that
 * lets through, but what the loader calls: a file can be read.
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
