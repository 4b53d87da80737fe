/* signal.c - see signal.h. */
#include "capture/signal.h"

#include "capture/handler.h"
#include "gate/gate.h"
#include "platform/signal.h"

#include <signal.h>
#include <string.h>

#define MOMENT_NS (200 * 1000) /* between two looks at a thread that blocks signals */

#if defined(__SANITIZE_THREAD__)
#define HANDLERS_OF_LIBC_ONLY 1 /* the sanitizer's runtime must see each handler, and sees those that libc installs */
#else
#define HANDLERS_OF_LIBC_ONLY 0
#endif

static bool is_ours(const struct signal_action *action)
{
    return action->handler == (uintptr_t)mire__handler_as_answer;
}

static bool is_default(const struct signal_action *action)
{
    return action->handler == (uintptr_t)SIG_DFL;
}

static bool is_action(const struct signal_action *action)
{
    return !is_default(action) && action->handler != (uintptr_t)SIG_IGN;
}

/* By libc's sigaction if it works: sanitizers intercept that function. */
static bool install(int signal)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | mire__signal_stack_flag()};
    const struct signal_action own = {
        .handler = (uintptr_t)mire__handler_as_answer, .flags = (unsigned long)action.sa_flags, .mask = ~0ull};

    mire__signal_own(own.handler);
    if (signal == MIRE_SIGNAL_LIBC)
        return mire__signal_swap(NULL, signal, &own);
    action.sa_sigaction = mire__handler_as_answer;
    sigfillset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

/* ThreadSanitizer installs a handler in front of the library's: libc's view counts. */
static bool looks_ours(int signal)
{
    struct signal_action now;
    struct sigaction said;

    if (!HANDLERS_OF_LIBC_ONLY || signal == MIRE_SIGNAL_LIBC)
        return mire__signal_swap(&now, signal, NULL) && is_ours(&now);
    return sigaction(signal, NULL, &said) == 0 && (said.sa_flags & SA_SIGINFO) &&
           said.sa_sigaction == mire__handler_as_answer;
}

/*
 * Take the signal if its handler is still the library's, or the default. libc's own signal is taken also with libc's
 * handler, which is kept for libc's signals, and if the signal is ignored, as in children of posix_spawn in programs
 * with threads.
 */
static bool take(int signal)
{
    struct signal_action now;

    if (looks_ours(signal))
        return true;
    if (!mire__signal_swap(&now, signal, NULL))
        return false;
    if (signal == MIRE_SIGNAL_LIBC) {
        if (HANDLERS_OF_LIBC_ONLY)
            return false;
        mire__handler_pass_to(is_action(&now) ? (void (*)(int, siginfo_t *, void *))now.handler : NULL);
    } else if (!is_default(&now)) {
        return false;
    }
    return install(signal);
}

/*
 * Restore the previous action if the current one is the library's. The default action of a realtime signal ends the
 * process, so the action is restored only if no signal is pending.
 */
static void release(struct sampler *sampler, int signal)
{
    struct sigaction none = {.sa_handler = SIG_DFL};

    if (signal == 0 || signal == MIRE_SIGNAL_LIBC || !looks_ours(signal))
        return;
    if (signal == SIGURG || !sampler->owed)
        sigaction(signal, &none, NULL);
}

/* The next candidate for the sampling signal; 0 after the last one. */
static int next_candidate(int signal)
{
    if (signal == 0)
        return MIRE_SIGNAL_LIBC;
    if (signal == MIRE_SIGNAL_LIBC)
        return SIGURG;
    if (signal == SIGURG)
        return SIGRTMAX - 1;
    return signal - 1 > SIGRTMIN ? signal - 1 : 0;
}

static void use(struct sampler *sampler, int signal)
{
    if (sampler->signal == signal)
        return;
    release(sampler, sampler->signal);
    sampler->signal = signal;
}

/* Take the first candidate that is free and not blocked. */
static bool take_any(struct sampler *sampler, uint64_t blocked)
{
    for (int signal = next_candidate(0); signal != 0; signal = next_candidate(signal)) {
        if ((blocked & MIRE_SIGNAL_BIT(signal)) == 0 && (sampler->refused & MIRE_SIGNAL_BIT(signal)) == 0 &&
            take(signal)) {
            use(sampler, signal);
            return true;
        }
    }
    return false;
}

bool mire__signal_open(struct sampler *sampler)
{
    return take_any(sampler, 0);
}

void mire__signal_close(struct sampler *sampler)
{
    release(sampler, sampler->signal);
}

bool mire__signal_holds(struct sampler *sampler)
{
    return sampler->signal != 0 && take(sampler->signal);
}

/*
 * libc blocks all signals for moments, for which the caller waits, but not each time for a thread that keeps blocking
 * them.
 */
static void look(struct thread_signals *there, struct sampler *sampler, uint32_t tid)
{
    uint64_t bit = sampler->signal ? MIRE_SIGNAL_BIT(sampler->signal) : 0;
    uint64_t deadline_ns = sampler->deaf_tid == tid ? 0 : mire__now_ns() + MIRE_DEAF_ANSWER_NS;
    _Atomic uint32_t never = 0;

    for (;;) {
        mire__thread_signals(there, tid);
        sampler->deaf_tid = there->blocked & bit ? tid : 0;
        if ((there->blocked & bit) == 0 || mire__now_ns() >= deadline_ns)
            return;
        mire__futex_wait(&never, 0, mire__now_ns() + MOMENT_NS);
    }
}

enum mire__loss mire__signal_choose(struct sampler *sampler, uint32_t tid)
{
    struct thread_signals there;
    bool usable;

    look(&there, sampler, tid);
    if (there.by_parent && !atomic_load(&mire__signal_parent_continues))
        return MIRE_LOSS_NO_SIGNAL;
    usable = sampler->signal != 0 && (there.blocked & MIRE_SIGNAL_BIT(sampler->signal)) == 0 && take(sampler->signal);
    if (!usable && !take_any(sampler, there.blocked))
        return there.blocked & MIRE_SIGNAL_BIT(MIRE_SIGNAL_LIBC) ? MIRE_LOSS_BLOCKED : MIRE_LOSS_NO_SIGNAL;
    sampler->coming = there.pending & MIRE_SIGNAL_BIT(sampler->signal);
    return MIRE_LOSS_NONE;
}

enum mire__loss mire__signal_send(struct sampler *sampler, uint32_t tid)
{
    bool sent;

    if (sampler->coming)
        return MIRE_LOSS_NONE; /* a signal of the library that a thread without a processor has not taken yet */
    if (!mire__gate_send_begin())
        return MIRE_LOSS_NO_SIGNAL;
    if (sampler->signal == MIRE_SIGNAL_LIBC)
        sent = mire__signal_queue(tid, sampler->signal, sampler);
    else
        sent = mire__thread_signal(tid, sampler->signal);
    mire__gate_send_end();
    if (sent) {
        sampler->owed = true;
        return MIRE_LOSS_NONE;
    }
    if (!mire__thread_signal(tid, 0))
        return MIRE_LOSS_GONE;
    sampler->refused |= MIRE_SIGNAL_BIT(sampler->signal);
    return MIRE_LOSS_NO_SIGNAL;
}

/* A pending signal whose action becomes SIG_IGN is discarded, blocked or not. No other code sends this signal. */
static void discard(struct sampler *sampler)
{
    struct signal_action own, ignore = {.handler = (uintptr_t)SIG_IGN};
    _Atomic uint32_t *wake = atomic_load(&sampler->wake);

    if (!looks_ours(sampler->signal) || !mire__signal_swap(&own, sampler->signal, &ignore))
        return;
    mire__signal_swap(NULL, sampler->signal, &own);
    if (wake)
        atomic_store(wake, 1); /* a timer's signal may have been discarded, too */
}

enum mire__loss mire__signal_take_back(struct sampler *sampler, uint32_t tid)
{
    uint64_t bit = MIRE_SIGNAL_BIT(sampler->signal);
    struct thread_signals there;

    if (!mire__thread_signal(tid, 0))
        return MIRE_LOSS_GONE;
    mire__thread_signals(&there, tid);
    if ((there.pending & bit) == 0 || (there.blocked & bit) == 0)
        return MIRE_LOSS_UNANSWERED; /* the thread had no processor: the signal arrives as soon as it has one */
    discard(sampler);
    sampler->owed = false;
    return MIRE_LOSS_BLOCKED;
}
