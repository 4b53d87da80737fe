/* hooks.c - the table of hooks, and the hooks of the waiting calls. Signal-safe once bound. */
#include "gate/hooks.h"

#include "platform/filter.h"
#include "platform/signal.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <asm/ioctls.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
#define ROW(name) {#name, (void *)mire__hook_##name, NULL},
#define WAIT_ROW(result, name, parameters, arguments, waits, on, length, asked) ROW(name)
#define EXEC_ROW(name, parameters, arguments) ROW(name)
#define LIST_ROW(name, with_array) ROW(name)
struct hook mire__hooks[MIRE_HOOK_COUNT] = {
    MIRE_HOOKS(WAIT_ROW) MIRE_EXITS(ROW) MIRE_EXECS(EXEC_ROW) MIRE_EXEC_LISTS(LIST_ROW) ROW(abort) ROW(sigaltstack)
};
/* clang-format on */

void *mire__hook_real(enum mire__hook_number number)
{
    struct hook *hook = &mire__hooks[number];

    if (!atomic_load_explicit(&hook->real, memory_order_relaxed))
        mire__hook_bind_late(hook);
    return atomic_load_explicit(&hook->real, memory_order_relaxed);
}

uintptr_t mire__gate_libc(void)
{
    return (uintptr_t)mire__hook_real(MIRE_HOOK_poll);
}

int mire__hook_sigaltstack(const stack_t *stack, stack_t *before)
{
    int (*real)(const stack_t *, stack_t *) =
        (int (*)(const stack_t *, stack_t *))mire__hook_real(MIRE_HOOK_sigaltstack);

    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    if (stack && !(stack->ss_flags & SS_DISABLE) && !mire__quiet_is())
        mire__signal_as_note_stack(stack->ss_size);
    return real(stack, before);
}

bool mire__hook_blocks(int fd)
{
    int saved = errno, flags;

    if (mire__quiet_is())
        return true;
    flags = fcntl(fd, F_GETFL);
    errno = saved;
    return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

_Atomic uint64_t mire__hook_terminals;

void mire__hooks_find_terminals(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        mire__gate_know_terminal((uint64_t)fd);
        mire__hook_is_terminal(fd);
    }
}

void mire__gate_know_terminal(uint64_t fd)
{
    if (fd < 64)
        atomic_fetch_or_explicit(&mire__hook_terminals, 1ull << fd, memory_order_relaxed);
}

bool mire__hook_is_terminal(int fd)
{
    struct termios settings;
    int saved = errno;
    bool is = mire__quiet_is() || syscall(SYS_ioctl, fd, TCGETS, &settings) == 0;

    errno = saved;
    if (!is)
        atomic_fetch_and_explicit(&mire__hook_terminals, ~(1ull << fd), memory_order_relaxed);
    return is;
}

void mire__hook_look_at_byte(int fd)
{
    static _Atomic uint32_t reads[64];
    uint32_t count = atomic_fetch_add_explicit(&reads[fd], 1, memory_order_relaxed) + 1;

    if ((count & (count - 1)) == 0 && !mire__quiet_is())
        mire__gate_know_terminal((uint64_t)fd);
}

enum mire__wait_length mire__hook_wait_for_user(int fd)
{
    struct termios settings;
    int saved = errno;
    bool looks;

    if (mire__quiet_is())
        return MIRE_WAIT_LONG;
    looks = !mire__hook_blocks(fd) || (syscall(SYS_ioctl, fd, TCGETS, &settings) == 0 && !(settings.c_lflag & ICANON) &&
                                       settings.c_cc[VMIN] == 0 && settings.c_cc[VTIME] == 0);
    errno = saved;
    return looks ? MIRE_WAIT_LOOK : MIRE_WAIT_LONG;
}

/* clang-format off */
#define DEFINE(result, name, parameters, arguments, waits, on, length, asked) \
    result mire__hook_##name parameters                                \
    MIRE_HOOK_BODY(result, name, parameters, arguments, waits, on, length, asked)
MIRE_HOOKS(DEFINE)
/* clang-format on */
