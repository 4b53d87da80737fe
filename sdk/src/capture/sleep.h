/*
 * sleep.h - the system call in which a sampled thread sleeps, as a kind of sleep.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_SLEEP_H
#define MIRE_CAPTURE_SLEEP_H

#include "capture/sampler.h"

enum sleep_kind {
    SLEEP_OTHER,  /* part of the work: a lock, a file, any other call */
    SLEEP_EVENTS, /* a wait for events: poll, epoll_wait, select and similar calls */
    SLEEP_USER,   /* a read from a terminal */
    SLEEP_CALL    /* a call that may be the loop's own wait: a timed sleep, a queue, a wait for a child */
};

/*
 * The kind of the call in the sampler's last state of thread `tid`. A wait for events of MIRE_WAIT_SHORT_MS at most is
 * SLEEP_CALL. A terminal that the thread reads is made known to the gate.
 *
 *   counter  address of the last futex of this thread that had another value than a lock with waiters: it counts rounds
 *            or events, and may have that value, too. 0 at first
 */
enum sleep_kind mire__sleep_kind(const struct sampler *sampler, uint32_t tid, uint64_t *counter);

/* A sleep so short that it only yields the processor. A sleep until an absolute time is none: its length is unknown. */
bool mire__sleep_is_nap(const struct sampler *sampler);

/* A sleep of at most 0.1 ms, or until a time that has come: sleep(0) of a script, in a loop that computes. */
bool mire__sleep_is_yield(const struct sampler *sampler);

#endif
