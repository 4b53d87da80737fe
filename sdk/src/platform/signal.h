/*
 * signal.h - actions of signals by the kernel's own call: libc's refuses the signals that it reserves. Signal-safe.
 * errno is kept.
 */
#ifndef MIRE_PLATFORM_SIGNAL_H
#define MIRE_PLATFORM_SIGNAL_H

#include "base/base.h"

#include <signal.h>

/*
 * The signal with which glibc cancels threads, and musl's timers call. sigfillset() leaves it out of every set,
 * sigaction() fails with EINVAL for it, pthread_sigmask() never blocks it. So no program uses, ignores, blocks or waits
 * for it, except by direct system calls. Its default action ends the process.
 */
#define MIRE_SIGNAL_LIBC 32

/* An action in the kernel's form. */
struct signal_action {
    uintptr_t handler;      /* a function as for SA_SIGINFO, or SIG_DFL, SIG_IGN */
    unsigned long flags;    /* SA_* */
    void (*restorer)(void); /* NULL: the library's, if the processor needs one */
    uint64_t mask;
};

/*
 * Give a signal another action.
 *   before  the action until now; NULL: not wanted
 *   action  NULL: no change
 * Returns false if the system refuses; then nothing has changed.
 */
bool mire__signal_swap(struct signal_action *before, int signal, const struct signal_action *action);

/* Block further signals on the calling thread, as the kernel does for a handler. */
void mire__signal_as_block(const sigset_t *set);

/* Set the calling thread's alternate stack, unless the thread has one. `stack` is borrowed for ever. */
void mire__signal_as_give_stack(void *stack, size_t size_bytes);

/*
 * Does a tracing parent continue the process after each signal? mire-run does. No signal is sent to the child of any
 * other tracer, because a program may be traced by a parent that does not expect the signal.
 */
extern _Atomic uint32_t mire__signal_parent_continues;

/*
 * Handlers of the library run on the alternate stack of a thread. The kernel kills a process whose alternate stack is
 * too small for its own frame, which AVX-512 and SVE make larger than the 2048 bytes of old programs. So once a thread
 * of the program has such a stack, these handlers run on the threads' ordinary stacks.
 *
 *   own      this handler is the library's. Before it is installed
 *   note     the calling thread has an alternate stack of that size from now on
 *   flag     SA_ONSTACK or 0: for an action of the library
 */
#define MIRE_SIGNAL_OWN_MAX 4
void mire__signal_own(uintptr_t handler);
void mire__signal_as_note_stack(size_t size_bytes);
int mire__signal_stack_flag(void);

/* Create an empty file, and remove a file, by calls that no hook sees. Returns whether the file exists. Signal
 * handler: yes. */
bool mire__file_as_create(const char *path);
void mire__file_as_remove(const char *path);

/*
 * Send a signal to one thread of this process, with si_code SI_QUEUE and a value; libc's own handler of
 * MIRE_SIGNAL_LIBC ignores such a signal. Returns false: no such thread, the system refuses, or RLIMIT_SIGPENDING is
 * reached.
 */
bool mire__signal_queue(uint32_t tid, int signal, void *value);

#endif
