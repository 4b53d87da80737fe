/*
 * sampler.h - one stack of another thread, now.
 *
 *     asleep in the kernel   its stack pointer is in /proc; the stack is copied from outside. The thread is not
 *                            interrupted; it may be in uninterruptible sleep
 *     running                a signal that the program does not use (signal.h); its handler copies registers and stack
 *                            and returns. A wait that the thread has come to meanwhile goes on
 *                            (mire__arch_as_wait_cut says where it cannot)
 *
 * Under an emulator, whose threads /proc takes for the program's, both get the signal; calls that it ends return early.
 */
#ifndef MIRE_CAPTURE_SAMPLER_H
#define MIRE_CAPTURE_SAMPLER_H

#include "capture/unwind.h"
#include "platform/platform.h"
#include "ring/blackbox.h"
#include "unwind/unwind.h"

/* The stack of a thread that may make no system call of ours (platform/filter.h). */
struct quiet_stack {
    uint32_t tid; /* 0: it is not known */
    uint64_t lowest, end;
    uint64_t looked_ns; /* for filters that nobody saw being set */
};

struct sampler {
    int signal;                       /* asked with; 0: none is to be had */
    bool owed;                        /* one was sent, and neither answered nor taken back */
    bool coming;                      /* one sent before has still to come in to the wanted thread */
    uint32_t deaf_tid;                /* the thread that blocked it when looked at last; 0: it did not */
    uint64_t refused;                 /* signals that the system did not let us send, a bit each */
    bool signal_only;                 /* /proc does not tell the truth about threads: an emulator */
    _Atomic uint32_t request;         /* handshake with the handler: see handler.c */
    _Atomic bool asleep;              /* the check thread waits for the handler, and is not looking */
    uint64_t stopped_ns;              /* written by the handler: how long it took */
    _Atomic(_Atomic uint32_t *) wake; /* raised when a timer brings this address as its value; NULL: no timer is ours */
    _Atomic uint32_t wake_tid;        /* the thread that such timers signal; 0: none */
    struct capture_cost cost;
    struct thread_state state; /* of the thread that the last sample is of, as it was then */
    struct stack_snapshot snapshot;
    struct quiet_stack quiet; /* of the wanted thread; written while the request is IDLE */
    struct modules modules;
    struct script script; /* its chain is written as the snapshot is */
};

/*
 * Take a signal, install the handler, and try it out on the caller: the first sample of this thread then finds all it
 * touches in memory. One sampler at a time.
 *   sampler  zeroed memory that stays mapped for ever: a late signal may still come after mire__sampler_close
 * Returns MIRE_OK, also where no signal is to be had: then running threads have no stack;
 *         MIRE_E_SYSTEM (own memory cannot be read safely).
 */
enum mire_err mire__sampler_open(struct sampler *sampler);

/* Put the signal's action back. */
void mire__sampler_close(struct sampler *sampler);

/* Read anew which modules there are. The box learns of those it does not have yet; it may be NULL. */
void mire__sampler_look(struct sampler *sampler, struct blackbox *box);

/*
 * Take a sample of a thread of this process; fills in all of it.
 *   tid  a thread without a stack, as one that has ended, is flagged SILENT, and `loss` says why
 *   box  learns images loaded meanwhile; may be NULL
 * Thread: check thread. Waits MIRE_ANSWER_NS at most, MIRE_DEAF_ANSWER_NS where the thread blocks the signal, longer
 * only while the handler is at work.
 */
void mire__sampler_take(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box);

/*
 * The same of a thread that sleeps, which is not disturbed. False: it does not sleep, or the kernel does not tell.
 *   box  learns functions of scripts; may be NULL
 * Thread: check thread.
 */
bool mire__sampler_take_asleep(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box);

#endif
