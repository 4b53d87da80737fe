/* process.c - see process.h. */
#include "capture/process.h"

#include "capture/crash.h"
#include "capture/demand.h"
#include "capture/process_lane.h"
#include "capture/scene.h"
#include "capture/usage.h"
#include "platform/signal.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static struct process_record process;

/*
 * The timer's signal goes to this thread only. A realtime signal is not suitable: it kills the process if the app
 * removes the handler. No app removes that of libc's own signal, and SIGURG is ignored without a handler.
 */
static void admit_signal(struct check *check)
{
    struct thread_signals own;
    sigset_t one;

    if (check->sampler->signal != SIGURG && check->sampler->signal != MIRE_SIGNAL_LIBC)
        return;
    sigemptyset(&one);
    sigaddset(&one, check->sampler->signal);
    check->sampler->wake = check->wake;
    check->sampler->wake_tid = check->tid;
    pthread_sigmask(SIG_UNBLOCK, &one, NULL); /* libc's own signal is never blocked */
    mire__thread_signals(&own, check->tid);
    if ((own.blocked & MIRE_SIGNAL_BIT(check->sampler->signal)) == 0)
        check->timer_signal = (uint32_t)check->sampler->signal;
}

static void start(struct check *check)
{
    if (process.begun_tid != 0) /* otherwise it is unchanged */
        memset(&process, 0, sizeof(process));
    mire__scene_start(check);
    mire__demand_start(check);
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t step(struct check *check)
{
    uint64_t next_ns;

    if (process.begun_tid != check->tid) {
        admit_signal(check);
        if (process.begun_tid == 0)
            mire__usage_start(check);
        else
            mire__usage_resume(check);
        process.begun_tid = check->tid;
        mire__crash_start(check);
    }
    mire__crash_step(check, &process);
    mire__demand_step(check, &process);
    next_ns = mire__scene_step(check, &process);
    next_ns = sooner(next_ns, mire__usage_step(check, &process));
    if (process.record.event.state == MIRE_EVENT_OPEN && process.record.event.trigger != MIRE_TRIGGER_CRASH)
        mire__record_keep(check, &process.record);
    return next_ns;
}

static void stop(struct check *check)
{
    mire__crash_stop();
    mire__demand_stop();
    mire__scene_stop(check, &process);
    if (process.begun_tid != 0)
        mire__usage_stop(check);
    if (process.record.event.state == MIRE_EVENT_OPEN)
        mire__record_forget(check, &process.record);
}

const struct check_step mire__process_monitor = {.start = start, .step = step, .stop = stop};
