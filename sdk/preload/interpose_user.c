/*
 * interpose_user.c - the calls that change the process's user, found here first because the library is preloaded: our
 * threads are to change with it (platform/own.h), or to make way (core/core.h).
 */
#include "core/core.h"
#include "heap/collect.h"
#include "platform/filter.h"
#include "platform/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

/* Returns false if our threads could not follow. */
static bool begin(bool *stopped)
{
    struct collect_thread *before;
    bool met;

    *stopped = false;
    if (mire__quiet_is())
        return true;
    *stopped = mire__core_stop_for_user();
    if (*stopped)
        return true;
    before = mire__collect_own_begin();
    met = mire__own_meet();
    mire__collect_own_end(before);
    return met;
}

static int end(bool stopped, int result)
{
    int saved = errno;

    if (stopped)
        mire__core_start_from_environment(false);
    errno = saved;
    return result;
}

/* clang-format off */
#define EXPORT(name, parameters, arguments)                                              \
    __attribute__((visibility("default"))) int name parameters;                          \
    int name parameters                                                                  \
    {                                                                                    \
        int (*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);             \
        bool stopped;                                                                    \
                                                                                         \
        if (!real || !begin(&stopped)) {                                                 \
            errno = real ? EAGAIN : ENOSYS;                                              \
            return -1;                                                                   \
        }                                                                                \
        return end(stopped, real arguments);                                             \
    }

EXPORT(setuid, (uid_t user), (user))
EXPORT(seteuid, (uid_t user), (user))
EXPORT(setreuid, (uid_t user, uid_t effective), (user, effective))
EXPORT(setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved))
EXPORT(setgid, (gid_t group), (group))
EXPORT(setegid, (gid_t group), (group))
EXPORT(setregid, (gid_t group, gid_t effective), (group, effective))
EXPORT(setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved))
EXPORT(setgroups, (size_t count, const gid_t *groups), (count, groups))
EXPORT(initgroups, (const char *user, gid_t group), (user, group))
/* clang-format on */
