/*
 * interpose_user.c - the calls that change the rights of the process, which the loader finds here first, because the
 * library is preloaded: the user, the capabilities, the root directory, the namespaces. The recorded data keep a place
 * (core/core.h), and the library's threads change with the process (platform/own.h), or end.
 */
#include "allochook/allochook.h"
#include "core/core.h"
#include "gate/gate.h"
#include "platform/filter.h"
#include "platform/own.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#ifndef NS_GET_NSTYPE
#define NS_GET_NSTYPE _IO(0xb7, 3)
#endif

#define AGAIN_NS (50 * MIRE_NS_PER_MS) /* a thread that has returned is gone by then */

/* ---- the user ---- */

/* A call under way. */
struct change {
    bool paused; /* the library's threads have ended for it */
    bool ours;   /* to mire__gate_as_ours_end: the caller sleeps while our threads end, begin or change with it */
};

/* Returns false if our threads could not follow. */
static bool begin(struct change *out)
{
    struct collect_thread *before;
    bool met;

    *out = (struct change){.ours = mire__gate_as_ours_begin()};
    if (mire__quiet_is())
        return true;
    if (mire__thread_has_rights(0))
        mire__core_expect_change();
    out->paused = mire__core_cannot_follow() && mire__core_pause();
    if (out->paused)
        return true;
    before = mire__collect_own_begin();
    met = mire__own_meet();
    mire__collect_own_end(before);
    return met;
}

static int end(const struct change *change, int result)
{
    int saved = errno;

    if (change->paused)
        mire__core_resume();
    mire__gate_as_ours_end(change->ours);
    errno = saved;
    return result;
}

/* clang-format off */
#define REAL(name, parameters) (int(*) parameters)dlsym(RTLD_NEXT, #name)

#define EXPORT(name, parameters, arguments)                                              \
    __attribute__((visibility("default"))) int name parameters;                          \
    int name parameters                                                                  \
    {                                                                                    \
        int (*real) parameters = REAL(name, parameters);                                 \
        struct change change;                                                            \
                                                                                         \
        if (!real) {                                                                     \
            errno = ENOSYS;                                                              \
            return -1;                                                                   \
        }                                                                                \
        if (!begin(&change)) {                                                           \
            errno = EAGAIN;                                                              \
            return end(&change, -1);                                                     \
        }                                                                                \
        return end(&change, real arguments);                                             \
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

/* False: a filter keeps us from doing anything. */
static bool expect(void)
{
    if (mire__quiet_is())
        return false;
    mire__core_expect_change();
    return true;
}

/* ---- the calling thread alone, or a process with one ---- */

#define EXPORT_ALONE(name, parameters, arguments, alone)                                 \
    __attribute__((visibility("default"))) int name parameters;                          \
    int name parameters                                                                  \
    {                                                                                    \
        int (*real) parameters = REAL(name, parameters);                                 \
        struct change change;                                                            \
        int result;                                                                      \
                                                                                         \
        if (!real) {                                                                     \
            errno = ENOSYS;                                                              \
            return -1;                                                                   \
        }                                                                                \
        change.ours = mire__gate_as_ours_begin();                                        \
        change.paused = expect() && (alone) && mire__core_pause();                       \
        result = real arguments;                                                         \
        for (uint64_t end_ns = 0; change.paused && result != 0 && go_on(&end_ns);)       \
            result = real arguments;                                                     \
        return end(&change, result);                                                     \
    }
/* clang-format on */

static bool count_one(void *count, uint32_t tid)
{
    (void)tid;
    return ++*(int *)count < 2;
}

/*
 * A thread that has returned still counts for a moment, and the kernel may refuse the call for that reason. Then try
 * again, for a bounded time: the program may have threads of its own.
 */
static bool go_on(uint64_t *end_ns)
{
    _Atomic uint32_t never = 0;
    uint64_t now_ns = mire__now_ns();
    int threads = 0;

    if (errno != EINVAL && errno != EUSERS)
        return false;
    mire__threads_visit(count_one, &threads);
    if (*end_ns == 0)
        *end_ns = now_ns + AGAIN_NS;
    if (threads < 2 || now_ns >= *end_ns)
        return false;
    mire__futex_wait(&never, 0, now_ns + MIRE_NS_PER_MS);
    return true;
}

#define FOR_ONE (CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define FOR_ANY (CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP | CLONE_NEWPID)

/* Is the descriptor of a namespace that a process with several threads cannot join, as far as it tells? */
static bool is_for_one(int fd, int kind)
{
    int saved = errno, of = kind ? kind : ioctl(fd, NS_GET_NSTYPE);

    errno = saved;
    return of <= 0 || (of & ~FOR_ANY) != 0;
}

/* clang-format off */
EXPORT_ALONE(unshare, (int flags), (flags), (flags & FOR_ONE) != 0)
EXPORT_ALONE(setns, (int fd, int kind), (fd, kind), is_for_one(fd, kind))
EXPORT_ALONE(capset, (struct __user_cap_header_struct *header, struct __user_cap_data_struct *data), (header, data), true)

/* clang-format on */

/* ---- the root directory ---- */

/* A child that has not waited yet is watched from here on: later it would find no place. */
__attribute__((visibility("default"))) int chroot(const char *path);
int chroot(const char *path)
{
    int (*real)(const char *) = REAL(chroot, (const char *));
    struct change change = {.paused = false};

    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    if (!mire__quiet_is())
        mire__gate_as_lane();
    change.ours = mire__gate_as_ours_begin();
    expect();
    return end(&change, real(path));
}
