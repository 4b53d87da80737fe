/*
 * hooks.h - the waiting calls, one row each. A thread inside one of them waits for work.
 *
 *   X(result, name, parameters, arguments, waits, on, length, asked)
 *
 *     waits   whether this very call can wait
 *     on      the awaited epoll descriptor, or MIRE_WAITS_ALL
 *     length  the possible length of the wait, enum mire__wait_length: a short wait only looks for events
 *     asked   the answer of the same call (`real`) with a wait of at most MIRE_WAIT_SHORT_MS; 0: nothing is ready yet, or
 *             the call has no such form
 *
 * Each row makes a hook `mire__hook_NAME`, which replaces NAME: by GOT patching in libmire, by name in the preload
 * library. Signal-safe if NAME is.
 */
#ifndef MIRE_GATE_HOOKS_H
#define MIRE_GATE_HOOKS_H

#include "gate/gate.h"
#include "gate/leave.h"
#include "patch/patch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

static inline enum mire__wait_length mire__wait_of_ms(int timeout)
{
    if (timeout == 0)
        return MIRE_WAIT_LOOK;
    return timeout < 0 || timeout > MIRE_WAIT_SHORT_MS ? MIRE_WAIT_LONG : MIRE_WAIT_SHORT;
}

/* Without a time the call waits for ever. */
static inline enum mire__wait_length mire__wait_of_ns(const struct timespec *timeout)
{
    if (!timeout || timeout->tv_sec != 0 || timeout->tv_nsec > MIRE_WAIT_SHORT_MS * 1000000)
        return MIRE_WAIT_LONG;
    return timeout->tv_nsec == 0 ? MIRE_WAIT_LOOK : MIRE_WAIT_SHORT;
}

static inline enum mire__wait_length mire__wait_of_us(const struct timeval *timeout)
{
    if (!timeout || timeout->tv_sec != 0 || timeout->tv_usec > MIRE_WAIT_SHORT_MS * 1000)
        return MIRE_WAIT_LONG;
    return timeout->tv_usec == 0 ? MIRE_WAIT_LOOK : MIRE_WAIT_SHORT;
}

/* Length of the first part of a long wait; the second part is the rest. */
static inline int mire__wait_short(int *timeout)
{
    if (*timeout > 0)
        *timeout -= MIRE_WAIT_SHORT_MS;
    return MIRE_WAIT_SHORT_MS;
}

static const struct timespec mire__no_time;

/*
 * The same for select, which changes its sets and its time: if nothing is ready yet, the sets are restored, and the
 * time is the remaining time. `real` is select. 0 also for sets that are larger than an fd_set.
 */
int mire__hook_ask_select(int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *), int count, fd_set *in,
                          fd_set *out, fd_set *err, struct timeval *timeout);
int mire__hook_ask_pselect(int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *),
                           int count, fd_set *in, fd_set *out, fd_set *err, const sigset_t *mask);

/* clang-format off */
#define MIRE_HOOKS(X) \
    X(int, poll, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout), true, MIRE_WAITS_ALL, mire__wait_of_ms(timeout), real(fds, count, mire__wait_short(&timeout))) \
    X(int, __poll_chk, (struct pollfd *fds, nfds_t count, int timeout, size_t size), (fds, count, timeout, size), true, MIRE_WAITS_ALL, mire__wait_of_ms(timeout), real(fds, count, mire__wait_short(&timeout), size)) \
    X(int, ppoll, (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask), \
      (fds, count, timeout, mask), true, MIRE_WAITS_ALL, mire__wait_of_ns(timeout), real(fds, count, &mire__no_time, mask)) \
    X(int, __ppoll_chk, (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, \
      size_t size), (fds, count, timeout, mask, size), true, MIRE_WAITS_ALL, mire__wait_of_ns(timeout), real(fds, count, &mire__no_time, mask, size)) \
    X(int, epoll_wait, (int epoll, struct epoll_event *events, int cap, int timeout), \
      (epoll, events, cap, timeout), true, epoll, mire__wait_of_ms(timeout), real(epoll, events, cap, mire__wait_short(&timeout))) \
    X(int, epoll_pwait, (int epoll, struct epoll_event *events, int cap, int timeout, const sigset_t *mask), \
      (epoll, events, cap, timeout, mask), true, epoll, mire__wait_of_ms(timeout), real(epoll, events, cap, mire__wait_short(&timeout), mask)) \
    X(int, epoll_pwait2, (int epoll, struct epoll_event *events, int cap, const struct timespec *timeout, \
      const sigset_t *mask), (epoll, events, cap, timeout, mask), true, epoll, mire__wait_of_ns(timeout), real(epoll, events, cap, &mire__no_time, mask)) \
    X(int, select, (int count, fd_set *in, fd_set *out, fd_set *err, struct timeval *timeout), \
      (count, in, out, err, timeout), true, MIRE_WAITS_ALL, mire__wait_of_us(timeout), mire__hook_ask_select(real, count, in, out, err, timeout)) \
    X(int, pselect, (int count, fd_set *in, fd_set *out, fd_set *err, const struct timespec *timeout, \
      const sigset_t *mask), (count, in, out, err, timeout, mask), true, MIRE_WAITS_ALL, mire__wait_of_ns(timeout), mire__hook_ask_pselect(real, count, in, out, err, mask)) \
    X(int, sigsuspend, (const sigset_t *mask), (mask), true, MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(int, pause, (void), (), true, MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(int, sigwait, (const sigset_t *set, int *signal_out), (set, signal_out), true, MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), true, MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout), \
      (set, info, timeout), true, MIRE_WAITS_ALL, mire__wait_of_ns(timeout), 0) \
    X(int, accept, (int fd, struct sockaddr *address, socklen_t *size), (fd, address, size), mire__hook_blocks(fd), MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags), \
      (fd, address, size, flags), mire__hook_blocks(fd), MIRE_WAITS_ALL, MIRE_WAIT_LONG, 0) \
    X(ssize_t, read, (int fd, void *out, size_t size), (fd, out, size), mire__hook_asks_user(fd, size), MIRE_WAITS_ALL, mire__hook_wait_for_user(fd), 0) \
    X(ssize_t, __read_chk, (int fd, void *out, size_t size, size_t room), (fd, out, size, room), mire__hook_asks_user(fd, size), MIRE_WAITS_ALL, mire__hook_wait_for_user(fd), 0)

#define MIRE_HOOK_DECLARE(result, name, parameters, arguments, waits, on, length, asked) result mire__hook_##name parameters;
MIRE_HOOKS(MIRE_HOOK_DECLARE)
/* clang-format on */

/*
 * The body of a hook. A preloaded function with the call's name contains the body instead of a call of the hook,
 * because the gate uses the caller's return address and stack.
 */
/* clang-format off */
#define MIRE_HOOK_BODY(result, name, parameters, arguments, waits, on, length, asked)       \
    {                                                                                       \
        result(*real) parameters = (result(*) parameters)mire__hook_real(MIRE_HOOK_##name); \
        result answer;                                                                      \
                                                                                            \
        if (!real) {                                                                        \
            errno = ENOSYS;                                                                 \
            return -1;                                                                      \
        }                                                                                   \
        if (!(waits))                                                                       \
            return real arguments;                                                          \
        enum mire__wait wait = mire__gate_as_wait_begin(on, length, MIRE_CALL_HERE);        \
        if (__builtin_expect(wait == MIRE_WAIT_ASKS, 0)) {                                  \
            answer = asked;                                                                 \
            if (answer != 0)                                                                \
                return answer;                                                              \
            wait = mire__gate_as_wait_begin(on, MIRE_WAIT_ASKED, MIRE_CALL_HERE);           \
        }                                                                                   \
        answer = real arguments;                                                            \
        mire__gate_as_wait_end(wait);                                                       \
        return answer;                                                                      \
    }
/* clang-format on */

/* Not a wait: handlers of the library run on such a stack (platform/signal.h). */
int mire__hook_sigaltstack(const stack_t *stack, stack_t *before);

/* Does a call on this descriptor wait? An accept that does not wait is work, not a loop's turn. errno stays. */
bool mire__hook_blocks(int fd);

/* Descriptors below 64 that are known terminals, a bit each. */
extern _Atomic uint64_t mire__hook_terminals;

/* Look at standard input, output and error. */
void mire__hooks_find_terminals(void);

/* Is the descriptor still a terminal? If not, clears the bit. errno stays. */
bool mire__hook_is_terminal(int fd);

/*
 * The program reads one byte, as from a keyboard: is the descriptor an unknown terminal? Looks at the first such read,
 * the second, the fourth and so on, because the number may belong to a new file. errno stays.
 */
void mire__hook_look_at_byte(int fd);

/* Does a read of this descriptor wait for the user? A read of a file or pipe is work. errno stays. */
static inline bool mire__hook_asks_user(int fd, size_t size)
{
    if ((unsigned)fd >= 64)
        return false;
    if (size == 1)
        mire__hook_look_at_byte(fd);
    return atomic_load_explicit(&mire__hook_terminals, memory_order_relaxed) >> fd & 1 && mire__hook_is_terminal(fd);
}

/* The possible length of such a read: a read that only looks for a key is short. errno stays. */
enum mire__wait_length mire__hook_wait_for_user(int fd);

/*
 * Look up the functions that the hooks call. Without this call each hook looks up its function on first use, with
 * RTLD_NEXT.
 *   handle  RTLD_DEFAULT where hooks are patched in, RTLD_NEXT where they are found by name
 * Signal handler: no.
 */
void mire__hooks_bind(void *handle);

/* All hooks, including those of leave.h: their names, and the functions that they replace. */
/* clang-format off */
#define MIRE_HOOK_NUMBER(name) MIRE_HOOK_##name,
#define MIRE_WAIT_NUMBER(result, name, parameters, arguments, waits, on, length, asked) MIRE_HOOK_NUMBER(name)
#define MIRE_EXEC_NUMBER(name, parameters, arguments) MIRE_HOOK_NUMBER(name)
#define MIRE_LIST_NUMBER(name, with_array) MIRE_HOOK_NUMBER(name)
enum mire__hook_number {
    MIRE_HOOKS(MIRE_WAIT_NUMBER) MIRE_EXITS(MIRE_HOOK_NUMBER) MIRE_EXECS(MIRE_EXEC_NUMBER)
    MIRE_EXEC_LISTS(MIRE_LIST_NUMBER) MIRE_HOOK_NUMBER(abort) MIRE_HOOK_NUMBER(sigaltstack) MIRE_HOOK_COUNT
};
/* clang-format on */
extern struct hook mire__hooks[MIRE_HOOK_COUNT];

/* The function that a hook replaces, NULL if there is none; binds the hook if necessary. */
void *mire__hook_real(enum mire__hook_number number);

/* Bind one hook that another library's constructor calls before mire__hooks_bind. Signal handler: no. */
void mire__hook_bind_late(struct hook *hook);

#endif
