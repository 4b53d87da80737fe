/*
 * check.h - the check thread's round, and the steps in it.
 *
 *     sleep until the nearest deadline or a wake-up
 *       -> read the clocks: lateness of this round, sleep of the machine
 *       -> step every lane, then the steps of the process; each returns the time of its next step
 *
 * A step waits for nothing but a sampled thread. Every round calls every step, also before its deadline; a step with
 * nothing to do returns at once. Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_CHECK_H
#define MIRE_CAPTURE_CHECK_H

#include "capture/capture.h"
#include "capture/governor.h"
#include "capture/late.h"
#include "capture/sampler.h"
#include "platform/ticks.h"

/* A round that begins this much after its deadline is late: more than the jitter of a busy machine. */
#define MIRE_LATE_NS (50 * MIRE_NS_PER_MS)

/* The data that every step may read. */
struct check {
    const struct watch_options *options;
    struct capture_settings settings; /* of this round */
    struct blackbox *box;
    struct sampler *sampler;
    struct ticks_scale scale;
    uint64_t start_ns;
    uint64_t now_ns;       /* when this round began */
    uint64_t due_ns;       /* when the round should have begun: the deadline, if the deadline ended the sleep */
    uint64_t late_ns;      /* the difference, if MIRE_LATE_NS or more; otherwise 0 */
    struct late late;      /* the reason of the lateness */
    uint64_t suspended_ns; /* how long the machine was suspended during the sleep before the round */
    uint64_t marked_ns;    /* up to here the thread's time is accounted for */
    uint64_t wakeups;
    uint64_t handler_ns; /* time that threads spent in the sampler's handler */
    struct governor governor;
    uint32_t period_shift; /* the governor's result: sampling periods are << this */
    uint32_t tid;          /* of the check thread */
    uint32_t main_tid;     /* of the thread that started the watch */
    uint32_t foreground;   /* enum mire__ground */
    uint32_t sampled;      /* samples taken in this round: each may have taken MIRE_ANSWER_NS */
    uint32_t timer_signal; /* see below; 0: there is none */
    struct sample scratch; /* of an additional thread */
    bool turning;          /* a loop has turned since the last round */
    bool gone;             /* the thread that started the watch is gone */
    _Atomic uint32_t *wake;
};

/*
 * A step that watches the process as a whole, one row in watch.c's table. It may keep events in lane MIRE_LANE_PROCESS,
 * one at a time; see record.h.
 *
 * A timer of the process's CPU clock wakes the check thread without waking an idle process: timer_create with
 * CLOCK_PROCESS_CPUTIME_ID, SIGEV_THREAD_ID, check->tid, check->timer_signal, and sigev_value.sival_ptr = check->wake.
 * Before the timer is armed the signal's handler must still be ours: mire__signal_holds.
 */
struct check_step {
    void (*start)(struct check *check);    /* before the check thread exists, on the thread that creates it */
    uint64_t (*step)(struct check *check); /* returns the time of the next step: CLOCK_MONOTONIC, UINT64_MAX never */
    void (*stop)(struct check *check); /* after the last round; on the thread of `start`, if there is no check thread */
};

#endif
