/*
 * handler.c - the signal handler that copies the interrupted thread. Signal-safe.
 *
 *     request:   IDLE --check thread--> WANTED --handler--> TAKING --handler--> DONE --check thread--> IDLE
 *                                         '-- check thread, after MIRE_ANSWER_NS --> IDLE
 *
 * Invariant: the handler owns the snapshot in TAKING, the check thread in every other state. State and thread of a
 * request are one word. A late signal finds IDLE, or a request for another thread, and does nothing. A signal that is
 * even later serves the next request for its thread, as the signal of that request would.
 */
#include "capture/handler.h"

#include "platform/filter.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The handler's context: a signal has no argument. Written by the thread that starts the check thread. */
static _Atomic(struct sampler *) current;

static _Atomic(void (*)(int, siginfo_t *, void *)) of_libc;

void mire__handler_pass_to(void (*handler)(int signal, siginfo_t *info, void *ucontext))
{
    atomic_store(&of_libc, handler);
}

void mire__handler_set(struct sampler *sampler)
{
    atomic_store(&current, sampler);
}

/* The SDK's timer, on the check thread. Raises its futex word, so that the thread does not go to sleep now. */
static void raise_wake(struct sampler *sampler, void *value)
{
    _Atomic uint32_t *wake = atomic_load(&sampler->wake);

    if (wake && value == (void *)(uintptr_t)wake)
        atomic_store(wake, 1);
}

/*
 * The signal is the app's, which waits for it by sigwait or signalfd, but only this thread has it unblocked. The thread
 * blocks it from now on, and the app gets it.
 */
static void pass_on(int signal, siginfo_t *info, ucontext_t *context)
{
    int saved = errno;

    sigaddset(&context->uc_sigmask, signal);
    syscall(SYS_rt_sigqueueinfo, mire__pid(), signal, info);
    errno = saved;
}

/*
 * The thread ran when it was asked, and entered a wait before the signal arrived: the wait is continued. If a handler
 * of the app runs as well, the app gets EINTR, as without the SDK. That handler may also have run before: if it blocks
 * the SDK's signal, the signal arrives where the handler returns to. Then the thread had the signal blocked when asked.
 */
static void wait_on(int signal, ucontext_t *context)
{
    int number = mire__arch_as_wait_cut(context), saved = errno;
    uint64_t pending = 0, blocked;

    if (number < 0)
        return;
    memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
    if (!mire__quiet_is())
        syscall(SYS_rt_sigpending, &pending, sizeof(pending));
    errno = saved;
    if ((pending & ~blocked & ~(1ull << (signal - 1))) == 0)
        mire__arch_as_wait_again(context, number);
}

static bool is_on(const struct quiet_stack *stack, const void *ucontext)
{
    struct regs regs;
    uint64_t sp;

    mire__arch_as_regs(&regs, ucontext);
    sp = regs.value[mire__arch.sp];
    return sp >= stack->lowest && sp < stack->end;
}

static void copy_stack(struct sampler *sampler)
{
    if (mire__quiet_is())
        mire__snapshot_as_load_stack(&sampler->snapshot, &sampler->quiet);
    else
        mire__snapshot_as_copy_stack(&sampler->snapshot);
}

static void answer(struct sampler *sampler, int signal, void *ucontext)
{
    uint32_t tid = mire__quiet_is() ? sampler->quiet.tid : mire__tid();
    uint32_t wanted = MIRE_REQUEST(MIRE_REQUEST_WANTED, tid);
    uint64_t begin_ns;

    if (mire__quiet_is() && !is_on(&sampler->quiet, ucontext))
        return; /* another thread, or an unknown stack */
    if (!atomic_compare_exchange_strong(&sampler->request, &wanted, MIRE_REQUEST(MIRE_REQUEST_TAKING, tid)))
        return;
    begin_ns = mire__now_ns();
    mire__arch_as_regs(&sampler->snapshot.regs, ucontext);
    copy_stack(sampler);
    mire__sampler_as_copy_script(sampler);
    if (!sampler->coming)
        wait_on(signal, ucontext);
    sampler->stopped_ns = mire__now_ns() - begin_ns;
    atomic_store(&sampler->request, MIRE_REQUEST(MIRE_REQUEST_DONE, tid));
    if (atomic_load(&sampler->asleep) && !mire__quiet_is())
        mire__futex_wake(&sampler->request);
}

static bool is_ours(const struct sampler *sampler, const siginfo_t *info)
{
    const _Atomic uint32_t *wake = sampler ? atomic_load(&sampler->wake) : NULL;
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;

    return sampler && ((info->si_code == SI_QUEUE && value == (uintptr_t)sampler) ||
                       (info->si_code == SI_TIMER && wake && value == (uintptr_t)wake));
}

void mire__handler_as_answer(int signal, siginfo_t *info, void *ucontext)
{
    struct sampler *sampler = atomic_load(&current);
    void (*pass_to)(int, siginfo_t *, void *) = atomic_load(&of_libc);

    if (signal == MIRE_SIGNAL_LIBC && pass_to && !is_ours(sampler, info))
        pass_to(signal, info, ucontext);
    else if (!sampler)
        return;
    else if (info->si_code == SI_TIMER)
        raise_wake(sampler, info->si_value.sival_ptr);
    else if (is_ours(sampler, info) || info->si_code == SI_TKILL)
        answer(sampler, signal, ucontext);
    else if (!mire__quiet_is() && mire__tid() == atomic_load(&sampler->wake_tid))
        pass_on(signal, info, ucontext);
}

void mire__snapshot_as_copy_stack(struct stack_snapshot *snapshot)
{
    uint64_t sp = snapshot->regs.value[mire__arch.sp];

    /* 128 bytes below the stack pointer belong to a leaf function: the red zone. */
    snapshot->stack_address = (sp - 128) & ~7ull;
    snapshot->stack_size = mire__peek(snapshot->stack, snapshot->stack_address, snapshot->wanted_bytes);
}

void mire__snapshot_as_load_stack(struct stack_snapshot *snapshot, const struct quiet_stack *stack)
{
    uint64_t from = (snapshot->regs.value[mire__arch.sp] - 128) & ~7ull, size = stack->end - from;

    snapshot->stack_address = from;
    snapshot->stack_size = size < snapshot->wanted_bytes ? size : snapshot->wanted_bytes;
    memcpy(snapshot->stack, (const void *)(uintptr_t)from, snapshot->stack_size);
}

void mire__sampler_as_copy_script(struct sampler *sampler)
{
    const struct stack_snapshot *snapshot = &sampler->snapshot;

    mire__script_as_copy(&sampler->script,
                         (struct script_stack){snapshot->stack_address, snapshot->stack_size, snapshot->stack});
}
