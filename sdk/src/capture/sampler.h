/*
 * sampler.h - one stack of another thread, now.
 *
 *     asleep in the kernel   its stack pointer stands in /proc; the stack is copied from outside. It is not
 * interrupted, and it works in uninterruptible sleep, too running                a signal; its handler copies registers
 * and stack and returns. Should the thread have come to a wait meanwhile, that goes on (mire__arch_as_wait_cut says
 * where it cannot)
 *
 * Under an emulator, whose threads /proc takes for the program's, both get the signal; calls that it ends return early.
 *
 * The signal is SIGURG if nobody uses it: should someone take the handler away, its default is to be ignored.
 */
#ifndef MIRE_CAPTURE_SAMPLER_H
#define MIRE_CAPTURE_SAMPLER_H

#include "capture/unwind.h"
#include "platform/platform.h"
#include "ring/blackbox.h"
#include "unwind/modules.h"

/* The stack of a thread that may make no system call of ours (platform/filter.h). */
struct quiet_stack {
    uint32_t tid; /* 0: it is not known */
    uint64_t lowest, end;
    uint64_t looked_ns; /* for filters that nobody saw being set */
};

struct sampler {
    int signal;
    bool signal_only;                 /* /proc does not tell the truth about threads: an emulator */
    _Atomic uint32_t request;         /* handshake with the handler: see handler.c */
    _Atomic bool asleep;              /* the check thread waits for the handler, and is not looking */
    bool deaf;                        /* the wanted thread blocked the signal, or had one coming, when looked at */
    uint64_t stopped_ns;              /* written by the handler: how long it took */
    _Atomic(_Atomic uint32_t *) wake; /* raised when a timer brings this address as its value; NULL: no timer is ours */
    _Atomic uint32_t wake_tid;        /* the thread that such timers signal; 0: none */
    struct capture_cost cost;
    struct thread_state state; /* of the thread that the last sample is of, as it was then */
    struct snapshot snapshot;
    struct quiet_stack quiet; /* of the wanted thread; written while the request is IDLE */
    struct modules modules;
};

/*
 * Install the handler, and try it on the caller: the first sample of this thread then finds all it touches in memory.
 * One sampler at a time.
 *   sampler  zeroed memory that stays mapped for ever: a late signal may still come after mire__sampler_close
 * Returns MIRE_OK, MIRE_E_SYSTEM (no signal is free, or own memory cannot be read safely).
 */
enum mire_err mire__sampler_open(struct sampler *sampler);

/* Is the signal's handler still ours? Else nothing that raises the signal may be set going. */
bool mire__sampler_owns_signal(const struct sampler *sampler);

/* Put the signal back, if the handler is still ours. */
void mire__sampler_close(struct sampler *sampler);

/* Read anew which modules there are. The box learns of those it does not have yet; it may be NULL. */
void mire__sampler_look(struct sampler *sampler, struct blackbox *box);

/*
 * Take a sample of a thread of this process; fills in all of it.
 *   tid  a thread that has ended leaves a sample without a stack, flagged SILENT
 *   box  learns images loaded meanwhile; may be NULL
 * Thread: check thread. Waits MIRE_ANSWER_NS at most, MIRE_DEAF_ANSWER_NS where the thread blocks the signal, longer
 * only while the handler is at work.
 */
void mire__sampler_take(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box);

/*
 * The same of a thread that sleeps, which is not disturbed. False: it does not sleep, or the kernel does not tell.
 * Thread: check thread.
 */
bool mire__sampler_take_asleep(struct sample *out, struct sampler *sampler, uint32_t tid);

#endif
