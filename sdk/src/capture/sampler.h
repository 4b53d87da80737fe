/*
 * sampler.h - one stack of another thread, now.
 *
 *     asleep in the kernel    its stack pointer stands in /proc; the stack is copied from outside. It is not
 * interrupted, so no system call of the app returns early, and it works in uninterruptible sleep, too running a signal;
 * its handler copies registers and stack and returns
 *
 * The signal is SIGURG if nobody uses it: should someone take the handler away, its default is to be ignored.
 */
#ifndef MIRE_CAPTURE_SAMPLER_H
#define MIRE_CAPTURE_SAMPLER_H

#include "capture/modules.h"
#include "capture/unwind.h"

struct sampler {
    uint32_t tid; /* of the thread to sample */
    int signal;
    _Atomic uint32_t request; /* handshake with the handler: see sampler.c */
    _Atomic bool sent;        /* a signal is under way; the handler clears it */
    uint64_t stopped_ns;      /* written by the handler: how long it took */
    struct capture_cost cost;
    struct snapshot snapshot;
    struct modules modules;
};

/*
 * Install the handler, and try it if the caller is the thread to sample. One sampler at a time.
 *   sampler  zeroed memory that stays mapped for ever: a late signal may still come after mire__sampler_close
 * Returns MIRE_OK, MIRE_E_SYSTEM (no signal is free, or own memory cannot be read safely).
 */
enum mire_err mire__sampler_open(struct sampler *sampler, uint32_t tid);

/* Put the signal back, if the handler is still ours. */
void mire__sampler_close(struct sampler *sampler);

/*
 * Take a sample; fills in all of it. `box` learns images loaded meanwhile.
 * Thread: check thread. Waits MIRE_ANSWER_NS at most, longer only while the handler is at work.
 */
void mire__sampler_take(struct sample *out, struct sampler *sampler, struct blackbox *box);

#endif
