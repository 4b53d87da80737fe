/*
 * worker.c - see worker.h.
 */
#include "core/worker.h"

#include "platform/platform.h"
#include "report/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define NICENESS 10

static void say(const struct worker *worker, enum mire_log_level level, const char *text)
{
    if (worker->log)
        worker->log(worker->log_context, level, text);
}

static void recover(struct worker *worker)
{
    size_t sealed = mire__report_recover(worker->store, mire__wall_now_ms(), NULL);
    char text[96];

    if (sealed == 0)
        return;
    snprintf(text, sizeof(text), "%zu hangs of killed processes are reported", sealed);
    say(worker, MIRE_LOG_INFO, text);
}

/* Returns when to send again: CLOCK_MONOTONIC, UINT64_MAX if nothing waits. */
static uint64_t send_now(struct worker *worker)
{
    char problem[256];
    uint64_t wait_ms;

    if (!worker->sender)
        return UINT64_MAX;
    wait_ms = mire__variant_send_round(worker->sender, problem, sizeof(problem), mire__wall_now_ms());
    if (problem[0])
        say(worker, MIRE_LOG_WARNING, problem);
    return wait_ms == UINT64_MAX ? UINT64_MAX : mire__now_ns() + (wait_ms + 1) * MIRE_NS_PER_MS;
}

static void *work(void *context)
{
    struct worker *worker = context;
    uint64_t send_at_ns;

    pthread_setname_np(pthread_self(), "mire-worker");
    setpriority(PRIO_PROCESS, mire__tid(), NICENESS);
    recover(worker);
    send_at_ns = send_now(worker);
    for (;;) {
        mire__futex_wait(&worker->bell, 0, send_at_ns);
        uint32_t why = atomic_exchange_explicit(&worker->bell, 0, memory_order_acquire);
        if (why & MIRE_BELL_STOP)
            return NULL;
        if (why & MIRE_BELL_GONE && worker->on_gone())
            return NULL; /* what `worker` points to may be another's by now */
        if (why & MIRE_BELL_REHOOK)
            mire__variant_rehook();
        if (why & MIRE_BELL_SEND || mire__now_ns() >= send_at_ns)
            send_at_ns = send_now(worker);
    }
}

enum mire_err mire__worker_start(struct worker *worker)
{
    sigset_t all, before;
    int failed;

    atomic_init(&worker->bell, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? MIRE_E_SYSTEM : MIRE_OK;
}

void mire__worker_ring(struct worker *worker, enum mire__bell why)
{
    atomic_fetch_or_explicit(&worker->bell, why, memory_order_release);
    mire__futex_wake(&worker->bell);
}

void mire__worker_stop(struct worker *worker)
{
    mire__variant_send_cancel(worker->sender);
    mire__worker_ring(worker, MIRE_BELL_STOP);
    pthread_join(worker->thread, NULL);
}
