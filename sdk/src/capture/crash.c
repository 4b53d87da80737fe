/* crash.c - the handler's half of crash.h. Signal-safe. */
#include "capture/crash.h"

#include "platform/quiet.h"
#include "platform/platform.h"

#include <signal.h>
#include <string.h>

#define PATIENCE_NS (500 * MIRE_NS_PER_MS)

enum { IDLE, FILLING, ASKED, TAKING, TAKEN, FORGOTTEN };

static struct {
    _Atomic(_Atomic uint32_t *) wake; /* the check thread's futex word; NULL while there is none */
    _Atomic uint32_t check_tid;
    _Atomic uint32_t word;        /* futex; its value names the owner of the request, see crash.h */
    uint32_t pid;                 /* whose; a forked child's copy may be in any state */
    struct crash_request request; /* FILLING: the handler's; TAKING: the check thread's */
} crash;

/* Written by a thread that is about to abort; read while it waits in its handler. Two at once: one counts. */
static struct {
    _Atomic uint32_t busy, is_there;
    struct crash_said of;
} said;

void mire__crash_say(const char *name, const uintptr_t *callers, size_t count)
{
    if (atomic_exchange(&said.busy, 1))
        return;
    mire__text_copy(said.of.name, sizeof(said.of.name), name);
    said.of.depth = (uint32_t)(count < MIRE_CRASH_FRAMES ? count : MIRE_CRASH_FRAMES);
    if (said.of.depth > 0)
        memcpy(said.of.callers, callers, said.of.depth * sizeof(*callers));
    atomic_store(&said.is_there, 1);
    atomic_store(&said.busy, 0);
}

const struct crash_said *mire__crash_said(void)
{
    return crash.request.signal == SIGABRT && atomic_load(&said.is_there) ? &said.of : NULL;
}

static bool change(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&crash.word, &from, to);
}

static bool is_reachable(const _Atomic uint32_t *wake)
{
    return wake && crash.pid == mire__pid() && !mire__quiet_is() && mire__tid() != atomic_load(&crash.check_tid);
}

void mire__crash_as_take(int signal, const void *ucontext)
{
    _Atomic uint32_t *wake = atomic_load(&crash.wake);
    uint64_t until_ns = mire__now_ns() + PATIENCE_NS;
    uint32_t word;

    if (!is_reachable(wake) || !change(IDLE, FILLING))
        return;
    crash.request.tid = mire__tid();
    crash.request.signal = signal;
    mire__arch_as_regs(&crash.request.regs, ucontext);
    atomic_store(&crash.word, ASKED);
    atomic_store(wake, 1);
    mire__futex_wake(wake);
    while ((word = atomic_load(&crash.word)) == ASKED || word == TAKING) {
        if (mire__now_ns() >= until_ns && (word == TAKING || change(ASKED, IDLE)))
            return;
        mire__futex_wait(&crash.word, word, until_ns);
    }
}

void mire__crash_as_forget(void)
{
    _Atomic uint32_t *wake = atomic_load(&crash.wake);

    if (!is_reachable(wake) || !change(TAKEN, FORGOTTEN))
        return;
    atomic_store(wake, 1);
    mire__futex_wake(wake);
}

const char *mire__crash_as_name(int signal)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
                 {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"}};

    for (size_t i = 0; i < MIRE_COUNT(names); i++)
        if (names[i].number == signal)
            return names[i].name;
    return "signal";
}

const struct crash_request *mire__crash_begin(void)
{
    return change(ASKED, TAKING) ? &crash.request : NULL;
}

void mire__crash_end(void)
{
    atomic_store(&crash.word, TAKEN);
    mire__futex_wake(&crash.word);
}

bool mire__crash_is_forgotten(void)
{
    return change(FORGOTTEN, IDLE);
}

void mire__crash_outlived(void)
{
    change(TAKEN, IDLE);
}

void mire__crash_as_reach(_Atomic uint32_t *wake, uint32_t check_tid)
{
    if (wake && crash.pid != mire__pid())
        atomic_store(&crash.word, IDLE);
    crash.pid = mire__pid();
    atomic_store(&crash.check_tid, check_tid);
    atomic_store(&crash.wake, wake);
}
