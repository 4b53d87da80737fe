/* signal.c - signals that libc reserves: its own sigaction and sigqueue refuse them. Signal-safe. */
#include "platform/signal.h"

#include "platform/arch.h"
#include "platform/platform.h"

#include <errno.h>
#include <string.h>
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
