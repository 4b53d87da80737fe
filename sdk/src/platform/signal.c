/* signal.c - signals that libc reserves: its own sigaction and sigqueue refuse them. Signal-safe. */
#include "platform/signal.h"

#include "platform/arch.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RESTORER 0x04000000ul /* SA_RESTORER */

/* The kernel's struct sigaction. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

bool mire__signal_swap(struct signal_action *before, int signal, const struct signal_action *action)
{
    struct kernel_action put, got;
    int saved = errno;
    bool good;

    memset(&put, 0, sizeof(put));
    memset(&got, 0, sizeof(got));
    if (action) {
        put.handler = action->handler;
        put.flags = action->flags;
        put.mask = action->mask;
        put.restorer = action->restorer;
        if (!put.restorer && mire__arch_sigreturn)
            put.restorer = mire__arch_sigreturn;
        put.flags = put.restorer ? put.flags | RESTORER : put.flags & ~RESTORER;
    }
    good = syscall(SYS_rt_sigaction, signal, action ? &put : NULL, before ? &got : NULL, sizeof(put.mask)) == 0;
    errno = saved;
    if (before)
        *before = (struct signal_action){got.handler, got.flags, got.restorer, got.mask};
    return good;
}

bool mire__signal_queue(uint32_t tid, int signal, void *value)
{
    siginfo_t info;
    int saved = errno;
    long failed;

    memset(&info, 0, sizeof(info));
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = (pid_t)mire__pid();
    info.si_value.sival_ptr = value;
    failed = syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signal, &info);
    errno = saved;
    return failed == 0;
}

void mire__signal_as_block(const sigset_t *set)
{
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, set, NULL, (size_t)8);
}

void mire__signal_as_give_stack(void *stack, size_t size_bytes)
{
    stack_t now, ours = {.ss_sp = stack, .ss_size = size_bytes};

    if (syscall(SYS_sigaltstack, NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
        syscall(SYS_sigaltstack, &ours, NULL);
}

_Atomic uint32_t mire__signal_parent_continues;

/* The library's handlers need less than this below the kernel's frame, which has the size of AT_MINSIGSTKSZ. */
#define HANDLER_BYTES 2048
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static _Atomic uintptr_t own_handlers[MIRE_SIGNAL_OWN_MAX];
static _Atomic uint32_t has_small;

void mire__signal_own(uintptr_t handler)
{
    for (size_t i = 0; i < MIRE_SIGNAL_OWN_MAX; i++) {
        uintptr_t there = 0;

        if (atomic_compare_exchange_strong(&own_handlers[i], &there, handler) || there == handler)
            return;
    }
}

int mire__signal_stack_flag(void)
{
    return atomic_load(&has_small) ? 0 : SA_ONSTACK;
}

static bool is_own(uintptr_t handler)
{
    for (size_t i = 0; i < MIRE_SIGNAL_OWN_MAX; i++) {
        if (handler && atomic_load(&own_handlers[i]) == handler)
            return true;
    }
    return false;
}

void mire__signal_as_note_stack(size_t size_bytes)
{
    struct signal_action action;

    if (size_bytes >= getauxval(AT_MINSIGSTKSZ) + HANDLER_BYTES || atomic_exchange(&has_small, 1))
        return;
    for (int signal = 1; signal <= 64; signal++) {
        if (!mire__signal_swap(&action, signal, NULL) || !is_own(action.handler))
            continue;
        action.flags &= ~(unsigned long)SA_ONSTACK;
        mire__signal_swap(NULL, signal, &action);
    }
}

bool mire__file_as_create(const char *path)
{
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    return fd >= 0;
}

void mire__file_as_remove(const char *path)
{
    int saved = errno;

    syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    errno = saved;
}
