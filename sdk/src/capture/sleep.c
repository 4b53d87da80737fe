/*
 * sleep.c - see sleep.h.
 */
#include "capture/sleep.h"

#include "gate/gate.h"
#include "platform/platform.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

#define LOCKED_VALUE  2    /* of a futex: a lock with waiters */
#define FUTEX_COMMAND 0x7f /* without its flags */
#define YIELD_NS      100000

static bool is_short(uint64_t milliseconds)
{
    return milliseconds <= MIRE_WAIT_SHORT_MS;
}

/*
 * A timeout of the call. It is read from the caller's memory, mostly the stack, of which a copy exists from within the
 * call. The thread may have left the call since.
 */
static bool read_time(struct timespec *out, const struct sampler *sampler, uint64_t address)
{
    const struct stack_snapshot *snapshot = &sampler->snapshot;
    uint64_t into = address - snapshot->stack_address;

    if (address == 0)
        return false;
    if (into < snapshot->stack_size && snapshot->stack_size - into >= sizeof(*out)) {
        memcpy(out, snapshot->stack + into, sizeof(*out));
        return true;
    }
    return mire__peek(out, address, sizeof(*out)) == sizeof(*out);
}

static bool is_short_at(const struct sampler *sampler, uint64_t address)
{
    struct timespec time;

    return read_time(&time, sampler, address) && time.tv_sec == 0 &&
           time.tv_nsec <= MIRE_WAIT_SHORT_MS * (int64_t)MIRE_NS_PER_MS;
}

/* A wait for events. With a zero timeout it only looks, and is a call like others. */
static enum sleep_kind of_events(const struct sampler *sampler)
{
    const struct thread_state *state = &sampler->state;
    bool looks = false;

    switch (state->syscall) {
#ifdef SYS_poll
    case SYS_poll:
        looks = is_short((uint32_t)state->args[2]);
        break;
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        looks = is_short((uint32_t)state->args[3]);
        break;
    case SYS_ppoll:
        looks = is_short_at(sampler, state->args[2]);
        break;
    case SYS_pselect6:
        looks = is_short_at(sampler, state->args[4]);
        break;
    default:
        break;
    }
    return looks ? SLEEP_CALL : SLEEP_EVENTS;
}

/* A lock has a holder, and is part of the work. Any other futex may be the queue of the next job. */
static enum sleep_kind of_futex(const struct thread_state *state, uint64_t value, uint64_t *counter)
{
    if (value == LOCKED_VALUE && state->args[0] != *counter)
        return SLEEP_OTHER;
    *counter = state->args[0];
    return SLEEP_CALL;
}

static bool is_futex_wait(uint64_t operation)
{
    uint64_t command = operation & FUTEX_COMMAND;

    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

/* Input from a terminal comes from its user, so the read is a wait. */
static enum sleep_kind of_read(const struct thread_state *state, uint32_t tid)
{
    if (!mire__thread_has_terminal(tid, state->args[0]))
        return SLEEP_CALL;
    mire__gate_know_terminal(state->args[0]);
    return SLEEP_USER;
}

enum sleep_kind mire__sleep_kind(const struct sampler *sampler, uint32_t tid, uint64_t *counter)
{
    const struct thread_state *state = &sampler->state;

    switch (state->syscall) {
#ifdef SYS_poll
    case SYS_poll:
#endif
#ifdef SYS_select
    case SYS_select:
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
    case SYS_io_uring_enter:
    case SYS_accept:
    case SYS_accept4:
        return of_events(sampler);
    case SYS_futex:
        return is_futex_wait(state->args[1]) ? of_futex(state, state->args[2], counter) : SLEEP_OTHER;
    case SYS_futex_wait:
        return of_futex(state, state->args[1], counter);
    case SYS_read:
    case SYS_readv:
        return of_read(state, tid);
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_ioctl:
#ifdef SYS_open
    case SYS_open:
#endif
    case SYS_openat: /* of a FIFO that nobody writes to */
    case SYS_futex_waitv:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_mq_timedreceive:
    case SYS_msgrcv:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_restart_syscall:
        return SLEEP_CALL;
    default:
        return SLEEP_OTHER;
    }
}

bool mire__sleep_is_nap(const struct sampler *sampler)
{
    const struct thread_state *state = &sampler->state;

    if (state->syscall == SYS_clock_nanosleep)
        return !(state->args[1] & TIMER_ABSTIME) && is_short_at(sampler, state->args[2]);
    return state->syscall == SYS_nanosleep && is_short_at(sampler, state->args[0]);
}

bool mire__sleep_is_yield(const struct sampler *sampler)
{
    const struct thread_state *state = &sampler->state;
    struct timespec time, now = {0, 0};
    uint64_t address = state->args[0];

    if (state->syscall == SYS_clock_nanosleep) {
        if (state->args[1] & TIMER_ABSTIME && clock_gettime((clockid_t)state->args[0], &now) != 0)
            return false;
        address = state->args[2];
    } else if (state->syscall != SYS_nanosleep) {
        return false;
    }
    return read_time(&time, sampler, address) &&
           (time.tv_sec < now.tv_sec || (time.tv_sec == now.tv_sec && time.tv_nsec - now.tv_nsec <= YIELD_NS));
}
