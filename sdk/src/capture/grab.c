/* grab.c - see grab.h: by /proc and by signal. */
#include "capture/grab.h"

#include "capture/handler.h"
#include "capture/signal.h"
#include "platform/filter.h"
#include "platform/platform.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#define LOOK_OUT_NS      30000 /* twice the time of a handler */
#define RUN_LOOK_NS      200000
#define BELOW_BYTES      4096          /* a handler's frame: the kernel's copy of the registers, and ours */
#define FILTERS_STALE_NS MIRE_NS_PER_S /* a filter may have been set by a system call that nobody saw */
#define STACK_GROWS      (8ull << 20)  /* at most, after it was looked at: below the first one is nothing else */
#define FRESH_NS         300000        /* a look takes a third of it */
#define TRIES            3             /* a thread that falls asleep or wakes up while it is looked at */

/*
 * Have every page there that the handler touches: the snapshot's, its own code, the stack below the caller. Faults in
 * the first sample cost more than all else in it. By a plain call: signals may be blocked just now.
 */
static void rehearse(struct sampler *sampler)
{
    volatile char below[BELOW_BYTES];
    siginfo_t info = {.si_code = SI_QUEUE, .si_value = {.sival_ptr = sampler}};
    ucontext_t here;

    for (size_t i = 0; i < sizeof(below); i += 4096)
        below[i] = 0;
    memset(sampler->snapshot.stack, 0, sampler->snapshot.wanted_bytes);
    memset(&sampler->script.chain, 0, sizeof(sampler->script.chain));
    atomic_store(&sampler->request, MIRE_REQUEST(MIRE_REQUEST_WANTED, mire__tid()));
    memset(&here, 0, sizeof(here));
    mire__handler_as_answer(sampler->signal, &info, &here);
    atomic_store(&sampler->request, MIRE_REQUEST_IDLE);
}

enum mire_err mire__grab_open(struct sampler *sampler)
{
    uint32_t probe;

    if (mire__peek(&probe, (uintptr_t)&sampler->signal, sizeof(probe)) != sizeof(probe))
        return MIRE_E_SYSTEM;
    sampler->signal_only = !mire__thread_states_hold();
    mire__handler_set(sampler);
    if (mire__signal_open(sampler))
        rehearse(sampler);
    return MIRE_OK;
}

void mire__grab_close(struct sampler *sampler)
{
    mire__handler_set(NULL);
    mire__signal_close(sampler);
}

/* Read a thread asleep in the kernel. False if it moved meanwhile. */
static bool take_asleep(struct sampler *sampler, uint32_t tid, const struct thread_state *before)
{
    struct stack_snapshot *snapshot = &sampler->snapshot;
    struct thread_state after;

    mire__arch_as_regs_asleep(&snapshot->regs, before);
    mire__snapshot_as_copy_stack(snapshot);
    mire__sampler_as_copy_script(sampler);
    sampler->asleep_cpu_ns = mire__thread_cpu_ns(tid);
    mire__thread_state(&after, tid);
    return after.blocked && after.sp == before->sp && after.pc == before->pc;
}

/*
 * Wait a little without sleeping: where there is a processor for each, the handler is through in a few microseconds,
 * and waking this thread would take longer than all else that the handler does.
 */
static void look_out(struct sampler *sampler)
{
    uint64_t end_ns = mire__now_ns() + LOOK_OUT_NS;

    while (MIRE_REQUEST_OF(atomic_load(&sampler->request)) != MIRE_REQUEST_DONE && mire__now_ns() < end_ns)
        ;
}

/* Wait for the handler. False: it has not begun in time, and never will for this request. */
static bool await_answer(struct sampler *sampler, uint32_t tid, uint64_t deadline_ns)
{
    for (;;) {
        uint32_t now = atomic_load(&sampler->request), wanted = MIRE_REQUEST(MIRE_REQUEST_WANTED, tid);
        bool begun = now != wanted;

        if (now == MIRE_REQUEST(MIRE_REQUEST_DONE, tid))
            return true;
        if (!begun && mire__now_ns() >= deadline_ns &&
            atomic_compare_exchange_strong(&sampler->request, &wanted, MIRE_REQUEST_IDLE))
            return false;
        /* At work: it ends as soon as the thread gets a processor. */
        uint64_t look_ns = mire__now_ns() + (mire__quiet_is() ? MIRE_NS_PER_MS : MIRE_ANSWER_NS);
        mire__futex_wait(&sampler->request, now, begun || look_ns < deadline_ns ? look_ns : deadline_ns);
    }
}

struct stack_search {
    uint64_t inside;
    struct quiet_stack *out;
};

static bool see_mapping(void *context, const struct mapping *mapping)
{
    struct stack_search *search = context;

    if (search->inside < mapping->start || search->inside >= mapping->end)
        return true;
    search->out->lowest = mapping->start - STACK_GROWS;
    search->out->end = mapping->end;
    return false;
}

/*
 * May the thread be asked, after the program has confined itself? Only the first one has a stack that ends where the
 * kernel put the program's arguments: what is below the end is there, from the stack pointer on.
 */
static bool know_stack(struct sampler *sampler, uint32_t tid)
{
    struct stack_search search = {getauxval(AT_RANDOM), &sampler->quiet};
    uint64_t now_ns = mire__now_ns();
    uint32_t quiet;

    if (now_ns - sampler->quiet.looked_ns > FILTERS_STALE_NS) {
        sampler->quiet.looked_ns = now_ns;
        mire__filter_look();
    }
    quiet = atomic_load(&mire__quiet);

    if (!quiet)
        return true;
    if (quiet & MIRE_QUIET_SIGNALS || tid != mire__pid())
        return false;
    if (sampler->quiet.tid == tid)
        return true;
    mire__mappings_visit(see_mapping, &search, sampler->modules.scratch, sizeof(sampler->modules.scratch));
    sampler->quiet.tid = sampler->quiet.end ? tid : 0;
    return sampler->quiet.tid == tid;
}

/* Ask a thread, and wait for its answer. Returns why there is none. */
static enum mire__loss ask(struct sampler *sampler, uint32_t tid)
{
    enum mire__loss loss;
    bool answered;

    atomic_store(&sampler->request, MIRE_REQUEST(MIRE_REQUEST_WANTED, tid));
    loss = mire__signal_send(sampler, tid);
    if (loss != MIRE_LOSS_NONE) {
        atomic_store(&sampler->request, MIRE_REQUEST_IDLE);
        return loss;
    }
    look_out(sampler);
    atomic_store(&sampler->asleep, true);
    answered = await_answer(sampler, tid, mire__now_ns() + MIRE_ANSWER_NS);
    atomic_store(&sampler->asleep, false);
    if (!answered)
        return mire__signal_take_back(sampler, tid);
    sampler->owed = false;
    atomic_store(&sampler->request, MIRE_REQUEST_IDLE);
    sampler->cost.stopped_sum_ns += sampler->stopped_ns;
    if (sampler->stopped_ns > sampler->cost.stopped_max_ns)
        sampler->cost.stopped_max_ns = sampler->stopped_ns;
    return MIRE_LOSS_NONE;
}

/* Does a thread run of which /proc tells nothing, as after chroot and in a PID namespace of its own? */
static bool uses_processor(uint32_t tid)
{
    uint64_t cpu_ns = mire__thread_cpu_ns(tid);
    _Atomic uint32_t never = 0;

    mire__futex_wait(&never, 0, mire__now_ns() + RUN_LOOK_NS);
    return mire__thread_cpu_ns(tid) >= cpu_ns + RUN_LOOK_NS / 4;
}

/*
 * Is the thread on a processor, or waiting for one? Those that sleep are read. In *loss_out: MIRE_LOSS_NONE, it has
 * been read; otherwise why it cannot be.
 */
static bool runs(enum mire__loss *loss_out, struct sample *out, struct sampler *sampler, uint32_t tid)
{
    struct thread_state *state = &sampler->state;

    *loss_out = MIRE_LOSS_NONE;
    for (int i = 0; i < TRIES; i++) {
        mire__thread_state(state, tid);
        out->state = (uint8_t)state->letter;
        if (sampler->signal_only) {
            *state = (struct thread_state){.letter = state->letter, .syscall = -1};
            return true;
        }
        if (state->blocked && take_asleep(sampler, tid, state)) {
            out->flags |= MIRE_SAMPLE_BLOCKED;
            out->syscall = (int16_t)state->syscall;
            return false;
        }
        if (state->letter == '?' && uses_processor(tid))
            state->letter = 'R';
        out->state = (uint8_t)state->letter;
        if (!state->known && state->letter != 'R') { /* it may sleep in a call that a signal would cut short */
            *loss_out = mire__thread_signal(tid, 0) ? MIRE_LOSS_HIDDEN : MIRE_LOSS_GONE;
            return false;
        }
        if (state->letter == 'R' && !state->blocked)
            return true;
    }
    return true;
}

/*
 * A wait that the thread comes to between the look and the signal begins again: what it had waited it may wait once
 * more. So the look must be fresh.
 */
enum mire__loss mire__grab(struct sample *out, struct sampler *sampler, uint32_t tid)
{
    enum mire__loss loss = MIRE_LOSS_NONE;

    for (int i = 0; i < TRIES; i++) {
        uint64_t looked_ns;

        if (!runs(&loss, out, sampler, tid))
            return loss;
        looked_ns = mire__now_ns();
        loss = know_stack(sampler, tid) ? mire__signal_choose(sampler, tid) : MIRE_LOSS_CONFINED;
        if (loss != MIRE_LOSS_NONE)
            return loss;
        if (mire__now_ns() - looked_ns < FRESH_NS)
            break;
    }
    return ask(sampler, tid);
}

bool mire__grab_asleep(struct sample *out, struct sampler *sampler, uint32_t tid)
{
    struct thread_state *state = &sampler->state;

    mire__thread_state(state, tid);
    if (sampler->signal_only || !state->blocked || !take_asleep(sampler, tid, state))
        return false;
    out->state = (uint8_t)state->letter;
    out->syscall = (int16_t)state->syscall;
    out->flags |= MIRE_SAMPLE_BLOCKED;
    return true;
}
