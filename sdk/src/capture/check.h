/*
 * check.h - the check thread's round, and what takes part in it.
 *
 *     sleep until the nearest deadline, or until somebody wakes
 *       -> look at the clocks: how late is it, did the machine sleep
 *       -> step every lane, then every monitor of the process; each says when it wants to be stepped next
 *
 * A step never waits for anything but a sampled thread. It is called in every round, its own deadline reached or not:
 * one that has nothing to do returns at once. Private to capture/. Thread: check thread, all of it.
 */
#ifndef MIRE_CAPTURE_CHECK_H
#define MIRE_CAPTURE_CHECK_H

#include "capture/sampler.h"
#include "capture/settings.h"
#include "ring/blackbox.h"

struct store;

/* What every step may look at. */
struct check {
    struct capture_settings settings; /* as they are in this round */
    struct blackbox *box;
    struct sampler *sampler;
    uint64_t start_ns;
    uint64_t now_ns;       /* when this round began */
    uint64_t late_ns;      /* by how much the sleep before it took too long, if more than a busy machine explains */
    uint64_t suspended_ns; /* how long the machine slept during it */
    uint64_t wakeups;
    uint32_t tid;          /* of the check thread */
    uint32_t foreground;   /* enum mire__ground */
    uint32_t worked;       /* samples taken and reports sealed in this round: what excuses the next being late */
    uint32_t timer_signal; /* see below; 0: there is none */
    _Atomic uint32_t *wake;
    bool (*on_hang)(struct check *check, uint32_t lane);
};

/*
 * What watches the process as a whole; one row in watch.c's table each. It may keep records in lane MIRE_LANE_PROCESS,
 * one at a time; see record.h.
 *
 * A timer of the process's CPU clock wakes the check thread without waking an idle process: timer_create with
 * CLOCK_PROCESS_CPUTIME_ID, SIGEV_THREAD_ID, check->tid, check->timer_signal, and sigev_value.sival_ptr = check->wake.
 * Only that thread has the signal unblocked, and its handler ignores what it does not know; so a timer that fires late
 * is harmless. Before it is armed the signal's handler must still be ours: mire__sampler_owns_signal.
 */
struct monitor {
    void (*start)(struct check *check);    /* before the first round; may be NULL */
    uint64_t (*step)(struct check *check); /* returns when it wants the next one: CLOCK_MONOTONIC, UINT64_MAX never */
    void (*stop)(struct check *check);     /* after the last round; may be NULL */
};

#endif
