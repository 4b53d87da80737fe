/* marker.c - the crash marker. Signal-safe: the code runs in handlers, or may be interrupted by them.
 *
 *     depth 1   make the file, note the signal, have the stack taken, call the displaced handler
 *     depth 2   a crash in the displaced handler, or on another thread meanwhile: count it, call the displaced handler
 *     depth 3   end the process
 *
 * `depth` falls when a displaced handler returns: either the handler repaired the cause, or it installed another
 * action, which gets the signal next. A virtual machine repairs faults all the time and waits for its threads meanwhile: once
 * a displaced handler repaired one, it is called first, and the stack is taken if it did not repair.
 */
#include "exit/marker.h"

#include "exit/evidence.h"
#include "exit/run.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define CRASHES        7
#define QUITS          3
#define DEPTH_MAX      3u
#define REPAIRS_MARKED 8 /* a program that repairs more faults uses them by design: create no further files */
#define REPAIRS_TAKEN  1 /* and after so many its own handler comes before the taking of the stack, which takes time */
#define STACK_BYTES    (64u << 10)

static const int signals[CRASHES + QUITS] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE, SIGABRT,
                                             SIGTRAP, SIGSYS, SIGTERM, SIGINT, SIGHUP};

static struct {
    _Atomic uint32_t on; /* stored last; 0: handlers only pass on */
    uint32_t installed;  /* a bit for each signal with a displaced action; written by the starting thread */
    struct sigaction before[CRASHES + QUITS];
    char path[MIRE_STORE_PATH_MAX];
    _Atomic uint32_t depth;
    _Atomic uint32_t repairs;
    _Atomic uint32_t file; /* the file exists */
    struct marker_hooks hooks;
} marker;

static _Alignas(64) char stack[STACK_BYTES];

static int index_of(int signal)
{
    int i = 0;

    while (i < CRASHES + QUITS && signals[i] != signal)
        i++;
    return i;
}

/* ---- marks ---- */

static void make_file(void)
{
    if (atomic_load(&marker.repairs) >= REPAIRS_MARKED)
        return;
    mire__file_as_create(marker.path);
    atomic_store(&marker.file, 1);
}

static void mark_crash(struct evidence *evidence, int signal, const siginfo_t *info)
{
    struct evidence_crash *crash = &evidence->crash;

    atomic_fetch_add(&crash->depth, 1);
    if (atomic_load(&crash->signal) != 0)
        return;
    crash->code = info->si_code;
    crash->sender = info->si_code <= 0 ? (uint32_t)info->si_pid : 0;
    crash->tid = mire__tid();
    crash->address = info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0;
    crash->boot_ns = mire__boot_now_ns();
    atomic_store(&crash->signal, (uint32_t)signal);
}

/* The displaced handler repaired the fault: there was no crash. */
static void unmark(struct evidence *evidence)
{
    atomic_fetch_add(&marker.repairs, 1);
    if (atomic_exchange(&marker.file, 0) != 0)
        mire__file_as_remove(marker.path);
    atomic_store(&evidence->crash.depth, 0);
    atomic_store(&evidence->crash.signal, 0);
    if (marker.hooks.repaired)
        marker.hooks.repaired();
}

static void mark_quit(struct evidence *evidence, int signal, const siginfo_t *info)
{
    atomic_store(&evidence->quit_sender, info->si_code <= 0 ? (uint32_t)info->si_pid : 0);
    atomic_store(&evidence->quit_signal, (uint32_t)signal);
}

/* ---- passing on ---- */

/*
 * Restore the default action, which takes effect when the handler returns. A fault then occurs again, so a core file
 * shows its place. Any other signal is sent again and stays pending until then.
 */
static void end_by(int signal, const siginfo_t *info)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    bool faults = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;

    sigaction(signal, &action, NULL);
    if (!faults || info->si_code <= 0)
        mire__thread_signal(mire__tid(), signal);
}

static bool has_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static void call(const struct sigaction *action, int signal, siginfo_t *info, void *context)
{
    mire__signal_as_block(&action->sa_mask); /* the kernel restores the mask when this handler returns */
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signal, info, context);
    else
        action->sa_handler(signal);
}

static void handle(int signal, siginfo_t *info, void *context);

static bool is_ours(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle;
}

static void take_stack(uint32_t depth, int signal, const void *context)
{
    if (depth == 1 && marker.hooks.crashed)
        marker.hooks.crashed(signal, context);
}

static void handle_crash(int at, siginfo_t *info, void *context)
{
    const struct sigaction *before = &marker.before[at];
    struct evidence *evidence = atomic_load(&marker.on) ? mire__run_as_evidence() : NULL;
    int signal = signals[at];
    uint32_t depth = atomic_fetch_add(&marker.depth, 1) + 1;

    if (evidence) {
        make_file();
        mark_crash(evidence, signal, info);
        if (!has_handler(before) || atomic_load(&marker.repairs) < REPAIRS_TAKEN)
            take_stack(depth, signal, context);
    }
    if (depth >= DEPTH_MAX || !has_handler(before)) {
        if (before->sa_handler != SIG_IGN || info->si_code > 0 || depth >= DEPTH_MAX)
            end_by(signal, info);
        else if (evidence)
            unmark(evidence);
    } else {
        call(before, signal, info, context);
        /* abort() ends the process even if its handler returns. */
        if (evidence && signal != SIGABRT && is_ours(signal))
            unmark(evidence);
        else if (evidence && atomic_load(&marker.repairs) >= REPAIRS_TAKEN)
            take_stack(depth, signal, context);
    }
    atomic_fetch_sub(&marker.depth, 1);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    struct evidence *evidence;
    int saved = errno, at = index_of(signal);

    if (at < CRASHES) {
        handle_crash(at, info, context);
    } else {
        evidence = atomic_load(&marker.on) ? mire__run_as_evidence() : NULL;
        if (evidence)
            mark_quit(evidence, signal, info);
        end_by(signal, info);
    }
    errno = saved;
}

/* ---- in place ---- */

static void install(int at)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | mire__signal_stack_flag() | SA_RESTART}, now;

    if (sigaction(signals[at], NULL, &now) != 0 || is_ours(signals[at]))
        return; /* installed before a fork, or before a stop that could not remove it */
    if (at >= CRASHES && ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL))
        return;
    marker.before[at] = now;
    action.sa_sigaction = handle;
    mire__signal_own((uintptr_t)handle);
    sigemptyset(&action.sa_mask);
    if (sigaction(signals[at], &action, NULL) == 0)
        marker.installed |= 1u << at;
}

void mire__marker_start(const char *crash_path, unsigned which, const struct marker_hooks *hooks)
{
    /* For process 1 the kernel has no default actions: a signal that is sent again would not end it. */
    bool quits = which & MIRE_SIGNALS_QUIT && mire__pid() != 1;

    atomic_store(&marker.on, 0);
    mire__text_copy(marker.path, sizeof(marker.path), crash_path);
    marker.hooks = hooks ? *hooks : (struct marker_hooks){NULL, NULL};
    atomic_store(&marker.depth, 0);
    atomic_store(&marker.repairs, 0);
    atomic_store(&marker.file, 0);
    if (which & MIRE_SIGNALS_CRASH)
        mire__signal_as_give_stack(stack, sizeof(stack)); /* for a stack overflow */
    for (int at = 0; at < CRASHES + QUITS; at++)
        if (at < CRASHES ? which & MIRE_SIGNALS_CRASH : quits)
            install(at);
    atomic_store(&marker.on, 1);
}

void mire__marker_stop(void)
{
    atomic_store(&marker.on, 0);
    for (int at = 0; at < CRASHES + QUITS; at++) {
        if (!(marker.installed >> at & 1) || !is_ours(signals[at]))
            continue;
        sigaction(signals[at], &marker.before[at], NULL);
        marker.installed &= ~(1u << at);
    }
}

uint32_t mire__marker_foreign(void)
{
    uint32_t foreign = 0;

    for (int at = 0; at < CRASHES; at++)
        if ((marker.installed >> at & 1) && !is_ours(signals[at]))
            foreign |= 1u << at;
    return foreign;
}
