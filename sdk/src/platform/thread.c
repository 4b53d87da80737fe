/* thread.c - futexes, signals to one thread, random bytes. Signal-safe: system calls without libc's wrappers. */
#include "platform/platform.h"

#include "platform/filter.h"
#include "platform/locals.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define END_LOOK_NS 20000 /* the kernel needs a few microseconds from a thread's last word to its end */

uint32_t mire__pid(void)
{
    return mire__quiet_holds() ? 0 : (uint32_t)syscall(SYS_getpid);
}

uint32_t mire__tid_of_kernel(void)
{
    return mire__quiet_holds() ? 0 : (uint32_t)syscall(SYS_gettid);
}

uint32_t mire__tid(void)
{
    uint32_t of_ego = mire__locals_as_own()->tid_of_ego;

    return of_ego ? of_ego : mire__tid_of_kernel();
}

bool mire__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / MIRE_NS_PER_S), (long)(deadline_ns % MIRE_NS_PER_S)};
    int saved = errno;
    bool works;

    if (mire__quiet_holds())
        return true;
    /* FUTEX_WAIT_BITSET takes the deadline as a point on CLOCK_MONOTONIC. */
    works = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                    deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
            errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT;
    errno = saved;
    return works;
}

void mire__futex_wake(_Atomic uint32_t *word)
{
    int saved = errno;

    if (mire__quiet_holds())
        return;
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    errno = saved;
}

/* pthread_getattr_np allocates. */
bool mire__thread_own_stack(uint64_t *start_out, uint64_t *end_out)
{
    (void)start_out;
    (void)end_out;
    return false;
}

/* The program's name, which the kernel put there. */
uint64_t mire__first_stack_mark(void)
{
    return getauxval(AT_EXECFN);
}

bool mire__thread_own_name(char out[MIRE_THREAD_NAME_BYTES])
{
    return syscall(SYS_prctl, PR_GET_NAME, out, 0, 0, 0) == 0;
}

bool mire__thread_signal(uint32_t tid, int signal)
{
    int saved = errno;
    long failed = mire__quiet_holds() ? -1 : syscall(SYS_tgkill, mire__pid(), tid, signal);

    errno = saved;
    return failed == 0;
}

static bool read_capabilities(struct __user_cap_data_struct out[2], uint32_t tid)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = (int)tid};

    return syscall(SYS_capget, &header, out) == 0;
}

bool mire__thread_has_rights(uint32_t tid)
{
    struct __user_cap_data_struct held[2];
    int saved = errno;
    bool any = read_capabilities(held, tid) && (held[0].permitted | held[1].permitted);

    errno = saved;
    return any;
}

void mire__thread_await_end(uint32_t tid)
{
    uint64_t end_ns = mire__now_ns() + MIRE_NS_PER_S;
    _Atomic uint32_t never = 0;

    while (tid != 0 && mire__thread_signal(tid, 0) && mire__now_ns() < end_ns)
        mire__futex_wait(&never, 0, mire__now_ns() + END_LOOK_NS);
}

bool mire__thread_may_as_much(uint32_t tid)
{
    struct __user_cap_data_struct own[2], other[2];
    int saved = errno;
    bool less = read_capabilities(own, 0) && read_capabilities(other, tid) &&
                (own[0].effective & ~other[0].effective || own[1].effective & ~other[1].effective);

    errno = saved;
    return !less;
}

void mire__random(void *out, size_t size_bytes)
{
    uint8_t *bytes = out;
    int saved = errno;
    long got = syscall(SYS_getrandom, out, size_bytes, 1 /* GRND_NONBLOCK */);
    uint64_t mix = mire__now_ns() ^ (uint64_t)mire__tid() << 40;

    errno = saved;
    for (size_t i = got > 0 ? (size_t)got : 0; i < size_bytes; i++) {
        mix = mix * 6364136223846793005ull + 1442695040888963407ull;
        bytes[i] = (uint8_t)(mix >> 56);
    }
}
