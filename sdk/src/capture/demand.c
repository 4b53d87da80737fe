/* demand.c - see demand.h. */
#include "capture/demand.h"

#include "capture/process_lane.h"
#include "gate/gate.h"

#include <string.h>

#define PATIENCE_NS (200 * MIRE_NS_PER_MS)

enum { IDLE, FILLING, ASKED, TAKING, TAKEN };

static struct {
    _Atomic(_Atomic uint32_t *) wake; /* the check thread's futex word; NULL while there is none */
    _Atomic uint32_t word;            /* futex; its value names the owner of the other fields, see demand.h */
    _Atomic uint32_t sealing; /* 1: the samples are taken, and the report is being made; written by the check thread */
    uint32_t tid;
    uint32_t trigger;
    uint64_t caller;
    char name[sizeof(((struct event *)0)->name)];
    uint32_t pid; /* the owner; a forked child's copy may be in any state */
} demand;

static bool change(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&demand.word, &from, to);
}

static void wake_checker(_Atomic uint32_t *wake)
{
    atomic_store(wake, 1);
    mire__futex_wake(wake);
}

/* Wait until the samples are taken. False: the request was withdrawn. */
static bool await(uint64_t until_ns)
{
    uint32_t word;

    while ((word = atomic_load(&demand.word)) != TAKEN) {
        if (word == ASKED && mire__now_ns() >= until_ns && change(ASKED, IDLE))
            return false;
        mire__futex_wait(&demand.word, word, word == ASKED ? until_ns : UINT64_MAX); /* sampling is bounded */
    }
    return true;
}

enum mire_err mire__demand_capture(const char *name, enum mire__trigger trigger, const void *caller)
{
    _Atomic uint32_t *wake = atomic_load(&demand.wake);

    if (!wake || demand.pid != mire__pid())
        return MIRE_E_STATE;
    if (!change(IDLE, FILLING))
        return MIRE_E_TIMEOUT;
    demand.tid = mire__tid();
    demand.trigger = trigger;
    demand.caller = (uint64_t)(uintptr_t)caller;
    mire__text_copy(demand.name, sizeof(demand.name), name);
    atomic_store(&demand.word, ASKED);
    wake_checker(wake);
    if (!await(mire__now_ns() + PATIENCE_NS))
        return MIRE_E_TIMEOUT;
    atomic_store(&demand.word, IDLE);
    return MIRE_OK;
}

/* Remove the library's own frames, which are further in than the return address of the public call. */
static void trim(struct sample *sample, uint64_t caller)
{
    uint32_t own = 0;

    while (own < sample->depth && sample->pc[own] + 1 != caller)
        own++;
    if (own == sample->depth)
        return;
    sample->depth -= own;
    memmove(sample->pc, sample->pc + own, sample->depth * sizeof(sample->pc[0]));
    memmove(sample->into, sample->into + own, sample->depth * sizeof(sample->into[0]));
    memmove(sample->found, sample->found + own, sample->depth * sizeof(sample->found[0]));
    sample->syscall = -1; /* the library waits, not the caller */
    sample->state = 'R';
}

static void take_all(struct check *check, struct record *record)
{
    struct gate_view view;

    trim(mire__record_take(check, record, 0), demand.caller);
    mire__record_put(check, record, MIRE_NS_PER_MS);
    for (uint32_t lane = 0; lane < MIRE_WATCHED_MAX; lane++) {
        if (!mire__gate_look(&view, lane) || view.tid == demand.tid)
            continue;
        mire__record_take(check, record, view.tid);
        mire__record_put(check, record, MIRE_NS_PER_MS);
    }
}

void mire__demand_step(struct check *check, struct process_record *of)
{
    struct event event = {.begin_ns = check->now_ns};

    if (!change(ASKED, TAKING))
        return;
    event.trigger = demand.trigger;
    event.tid = demand.tid;
    mire__text_copy(event.name, sizeof(event.name), demand.name);
    mire__thread_name(event.thread_name, demand.tid);
    if (mire__process_open(check, of, &event))
        take_all(check, &of->record);
    atomic_store(&demand.sealing, 1);
    atomic_store(&demand.word, TAKEN);
    mire__futex_wake(&demand.word);
    if (mire__process_has(of, (enum mire__trigger)event.trigger))
        mire__record_close(check, &of->record, mire__now_ns(), false);
    atomic_store(&demand.sealing, 0);
}

bool mire__demand_settled(void)
{
    return demand.pid != mire__pid() || !atomic_load(&demand.sealing);
}

void mire__demand_start(struct check *check)
{
    if (demand.pid != mire__pid()) {
        atomic_store(&demand.word, IDLE);
        atomic_store(&demand.sealing, 0);
    }
    demand.pid = mire__pid();
    atomic_store(&demand.wake, check->wake);
}

void mire__demand_stop(void)
{
    atomic_store(&demand.wake, NULL);
}
