/* apart.c - see apart.h. Signal-safe: system calls without libc's wrappers. */
#include "platform/apart.h"

#include "platform/arch.h"
#include "platform/locals.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define UNSHARE_FIRST 2u /* CLOSE_RANGE_UNSHARE */
#define EGO_FLAGS     (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK)

static _Atomic bool open_apart; /* by mire__apart_open, before any thread of ours */

#ifdef __GLIBC__
extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

static bool is_alone(void)
{
    return &__libc_single_threaded && __libc_single_threaded;
}
#else
static bool is_alone(void)
{
    return false;
}
#endif

void mire__apart_open(void)
{
    atomic_store(&open_apart, true);
}

/* Before Linux 5.9: the copies live for some system calls. Descriptors above the limit are rare, and stay. */
static void unshare_and_close(void)
{
    struct limit {
        uint64_t now, most;
    } limit = {1024, 1024};

    if (syscall(SYS_unshare, CLONE_FILES) != 0)
        return;
    mire__locals_as_own()->is_apart = true;
    syscall(SYS_prlimit64, 0, 7 /* RLIMIT_NOFILE */, NULL, &limit);
    for (uint64_t fd = 0; fd < limit.now && fd < 65536; fd++)
        syscall(SYS_close, fd);
}

static void take_table(void)
{
    if (syscall(SYS_close_range, 0u, ~0u, UNSHARE_FIRST) == 0)
        mire__locals_as_own()->is_apart = true;
    else
        unshare_and_close();
}

void mire__apart_begin(void)
{
    int saved = errno;

    mire__locals_as_own()->is_ours = true;
    if (atomic_load_explicit(&open_apart, memory_order_relaxed))
        take_table();
    errno = saved;
}

bool mire__apart_is_ours(void)
{
    return mire__locals_as_own()->is_ours;
}

void mire__apart_set_ours(bool ours)
{
    mire__locals_as_own()->is_ours = ours;
}

bool mire__apart_is(void)
{
    return mire__locals_as_own()->is_apart;
}

struct errand {
    void (*work)(void *context);
    void *context;
};

static void run_errand(void *argument)
{
    const struct errand *errand = argument;

    take_table();
    errand->work(errand->context);
}

/* All signals except those that cannot be blocked. */
static void block_all(uint64_t *before)
{
    const uint64_t all = ~0ull;

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof(all));
}

void mire__apart_run(void (*work)(void *context), void *context)
{
    struct errand errand = {work, context};
    struct locals *own = mire__locals_as_own();
    uint32_t before_tid = own->tid_of_ego;
    int saved = errno;
    bool ran = false;
    uint64_t before;

    if (!atomic_load_explicit(&open_apart, memory_order_relaxed) || own->is_apart) {
        work(context);
        return;
    }
    block_all(&before);
    if (!is_alone()) {
        own->tid_of_ego = mire__tid();
        ran = mire__arch_as_ego(run_errand, &errand, EGO_FLAGS) > 0;
        own->tid_of_ego = before_tid;
        own->is_apart = false;
    }
    if (!ran)
        work(context);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    errno = saved;
}
