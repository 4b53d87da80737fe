/*
 * worker.c - see worker.h.
 */
#include "core/worker.h"

#include "allochook/allochook.h"
#include "platform/apart.h"
#include "platform/mine.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "platform/quiet.h"
#include "report/report.h"
#include "report/session.h"
#include "store/sending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define NICENESS    10
#define STACK_BYTES (1024 * 1024)
#define AGAIN_MS    20u /* a start or a stop takes less */

static void say(const struct worker *worker, enum mire_log_level level, const char *text)
{
    if (worker->log)
        worker->log(worker->log_context, level, text);
}

static bool is_leaving(const void *worker)
{
    return atomic_load(&((const struct worker *)worker)->wake) & MIRE_WAKE_STOP;
}

static void recover(struct worker *worker)
{
    const struct report_finder finder = {.now_ms = mire__wall_now_ms(),
                                         .next = &worker->next,
                                         .settles = worker->settles,
                                         .own = worker->box,
                                         .witnesses = worker->options->witnesses,
                                         .witness_count = worker->options->witness_count,
                                         .read_trace = worker->options->read_trace,
                                         .trace_context = worker->options->trace_context,
                                         .is_leaving = is_leaving,
                                         .context = worker};
    size_t sealed = mire__report_recover(worker->store, &finder);
    char text[96];

    if (sealed == 0)
        return;
    snprintf(text, sizeof(text), "made %zu reports of processes that died", sealed);
    say(worker, MIRE_LOG_INFO, text);
}

/* Only if there is a log, because formatting may allocate. */
static void say_unkept(const struct worker *worker)
{
    char text[MIRE_STORE_PATH_MAX + 256];
    uint32_t why;

    if (!worker->log || !worker->losses)
        return;
    why = atomic_load(&worker->losses->why);
    snprintf(text, sizeof(text),
             "%u reports could not be kept: %s cannot be written%s%s; name a directory that this process may write "
             "(mire_options_set_store)",
             atomic_load(&worker->losses->unkept), mire__store_dir(worker->store), why ? ": " : "",
             why ? strerror((int)why) : "");
    say(worker, MIRE_LOG_WARNING, text);
}

static void say_moved(const struct worker *worker)
{
    char text[MIRE_STORE_PATH_MAX + 128];

    if (!worker->log)
        return;
    snprintf(text, sizeof(text), "this user cannot write the store any more: reports go to %s",
             mire__store_dir(worker->store));
    say(worker, MIRE_LOG_WARNING, text);
}

static struct upload_now now_of(const struct worker *worker)
{
    return (struct upload_now){.wall_ms = worker->clock ? worker->clock(worker->clock_context) : mire__wall_now_ms(),
                               .boot_ms = mire__boot_now_ns() / MIRE_NS_PER_MS};
}

/* Returns when to send again: CLOCK_MONOTONIC, UINT64_MAX if nothing waits. */
static uint64_t send_now(struct worker *worker)
{
    char problem[256];
    uint64_t wait_ms;

    if (mire__store_refused(worker->store) || !worker->sender || worker->remote.killed)
        return UINT64_MAX;
    const struct upload_now now = now_of(worker);
    wait_ms = mire__variant_send_round(worker->sender, problem, sizeof(problem), &now);
    if (problem[0])
        say(worker, MIRE_LOG_WARNING, problem);
    return wait_ms == UINT64_MAX ? UINT64_MAX : mire__now_ns() + (wait_ms + 1) * MIRE_NS_PER_MS;
}

/* Returns when to ask for the rollout document again. */
static uint64_t ask(struct worker *worker)
{
    const struct upload_now now = now_of(worker);
    uint64_t at_ns = mire__variant_ask(&worker->remote, worker->sender, worker->store, &now);
    uint64_t mark = mire__store_rollout_mark(worker->store);

    if (mark == worker->rollout_mark)
        return at_ns;
    if (!worker->on_rollout())
        return mire__now_ns() + AGAIN_MS * MIRE_NS_PER_MS;
    worker->rollout_mark = mark;
    if (worker->settles)
        mire__sessions_recover(worker->store, NULL, mire__wall_now_ms());
    return at_ns;
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static void work(struct worker *worker)
{
    uint64_t send_at_ns, ask_at_ns, look_at_ns, keep_at_ns = UINT64_MAX;

    mire__apart_begin();
    mire__collect_own_thread();
    mire__own_claim_arena();
    mire__mine_thread_begin(worker->stack_bytes);
    atomic_store(&worker->tid, mire__tid());
    mire__thread_call_self("mire-worker");
    setpriority(PRIO_PROCESS, mire__tid(), NICENESS);
    if (worker->end_mark)
        mire__thread_mark_end(worker->end_mark);
    if (worker->recovers)
        recover(worker);
    atomic_store(&worker->recovered, 1);
    mire__futex_wake(&worker->recovered);
    ask_at_ns = ask(worker);
    send_at_ns = send_now(worker);
    look_at_ns = worker->on_look();
    mire__own_rest();
    for (;;) {
        uint64_t until_ns = sooner(sooner(look_at_ns, keep_at_ns), sooner(send_at_ns, ask_at_ns));

        if (mire__quiet_is()) /* no wake-ups then */
            until_ns = sooner(until_ns, mire__now_ns() + MIRE_QUIET_LOOK_NS);
        if (!mire__futex_wait(&worker->wake, 0, until_ns))
            break; /* a seccomp filter is on this thread: it would only spin */
        uint32_t why = atomic_exchange_explicit(&worker->wake, 0, memory_order_acquire);
        if (why & MIRE_WAKE_SEAL && !(why & MIRE_WAKE_STOP && mire__quiet_is()))
            worker->on_seal();
        if (why & MIRE_WAKE_STOP) {
            atomic_fetch_or(&worker->wake, why & ~(uint32_t)MIRE_WAKE_STOP); /* for the next thread */
            break;
        }
        if (why & MIRE_WAKE_GONE && worker->on_gone()) {
            mire__thread_end_as_first();
            break; /* `worker` may have a new owner by now */
        }
        if (why & MIRE_WAKE_UNKEPT)
            say_unkept(worker);
        if (why & MIRE_WAKE_MOVED)
            say_moved(worker);
        if (why & MIRE_WAKE_REHOOK)
            mire__variant_rehook();
        if (why & MIRE_WAKE_LOOK || mire__now_ns() >= look_at_ns)
            look_at_ns = worker->on_look();
        if (why & MIRE_WAKE_KEEP || mire__now_ns() >= keep_at_ns)
            keep_at_ns = worker->on_keep(worker);
        if (why & MIRE_WAKE_DELIVERY || mire__now_ns() >= ask_at_ns)
            ask_at_ns = ask(worker);
        if (why & (MIRE_WAKE_SEND | MIRE_WAKE_DELIVERY) || mire__now_ns() >= send_at_ns)
            send_at_ns = send_now(worker);
    }
}

static void *run(void *worker)
{
    work(worker);
    mire__thread_mark_no_end();
    mire__mine_thread_end();
    return NULL;
}

enum mire_err mire__worker_start(struct worker *worker)
{
    sigset_t all, mask;
    struct collect_thread *before;
    pthread_attr_t attributes;
    int failed;

    if (!mire__thread_attributes(&attributes, STACK_BYTES))
        return MIRE_E_MEMORY;
    worker->stack_bytes = STACK_BYTES;
    pthread_attr_getstacksize(&attributes, &worker->stack_bytes);
    atomic_store(&worker->tid, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    before = mire__collect_own_begin();
    mire__mine_thread_comes();
    failed = mire__own.pthread_create(&worker->thread, &attributes, run, worker);
    if (failed)
        mire__mine_thread_fails();
    mire__collect_own_end(before);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_attr_destroy(&attributes);
    return failed ? MIRE_E_SYSTEM : MIRE_OK;
}

void mire__worker_wake(struct worker *worker, enum mire__wake_reason why)
{
    atomic_fetch_or_explicit(&worker->wake, why, memory_order_release);
    mire__futex_wake(&worker->wake);
}

bool mire__worker_is_self(const struct worker *worker)
{
    return pthread_equal(worker->thread, pthread_self());
}

void mire__worker_stop(struct worker *worker)
{
    mire__variant_send_cancel(worker->sender);
    mire__worker_wake(worker, MIRE_WAKE_STOP);
    pthread_join(worker->thread, NULL);
}

void mire__worker_end_quietly(struct worker *worker, uint64_t until_ns)
{
    atomic_fetch_or(&worker->wake, MIRE_WAKE_STOP);
    while (!mire__own_has_joined(worker->thread) && mire__now_ns() < until_ns)
        ;
}
