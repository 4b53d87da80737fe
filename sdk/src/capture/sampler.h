/*
 * sampler.h - one stack of another thread, now.
 *
 *     asleep in the kernel   /proc has its stack pointer, and the stack is copied from outside. The thread is not
 *                            interrupted, so uninterruptible sleep is no obstacle
 *     running                the thread gets a signal that the program does not use (signal.h). The handler copies
 *                            registers and stack and returns. If the thread has begun to wait meanwhile, the wait
 *                            continues (mire__arch_as_wait_cut has the exceptions)
 *
 * Under an emulator /proc shows the emulator's threads, so both get the signal, and waits may return early.
 */
#ifndef MIRE_CAPTURE_SAMPLER_H
#define MIRE_CAPTURE_SAMPLER_H

#include "capture/unwind.h"
#include "platform/platform.h"
#include "ring/blackbox.h"
#include "unwind/unwind.h"

/* The stack of a thread in which the library may make no system call (platform/filter.h). */
struct quiet_stack {
    uint32_t tid; /* 0: unknown */
    uint64_t lowest, end;
    uint64_t looked_ns; /* last check for filters whose begin was not seen */
};

struct sampler {
    int signal;                       /* the signal in use; 0: none is available */
    bool owed;                        /* a signal was sent, and neither answered nor taken back */
    bool coming;                      /* an earlier signal is still under way to the wanted thread */
    uint32_t deaf_tid;                /* the thread that blocked the signal at the last check; 0: none */
    uint64_t refused;                 /* signals that the system refused to send, a bit each */
    bool signal_only;                 /* an emulator: /proc does not describe the program's threads */
    _Atomic uint32_t request;         /* handshake with the handler: see handler.c */
    _Atomic bool asleep;              /* the check thread sleeps until the handler wakes it */
    uint64_t stopped_ns;              /* written by the handler: its duration */
    _Atomic(_Atomic uint32_t *) wake; /* raised when a timer's value is this address; NULL: the library has no timer */
    _Atomic uint32_t wake_tid;        /* the thread that such timers signal; 0: none */
    struct capture_cost cost;
    struct thread_state state; /* of the thread of the last sample, at that time */
    uint64_t asleep_cpu_ns;    /* the CPU time of that thread then; valid if it slept */
    struct stack_snapshot snapshot;
    struct quiet_stack quiet; /* of the wanted thread; written while the request is IDLE */
    struct modules modules;
    bool held;            /* at the last sample the thread's virtual machine may have stopped it, to report its stack */
    const char *turn;     /* what the thread's loop did at the last sample, by its virtual machine; "" if unknown */
    struct script script; /* its chain of frames follows the same handshake as the snapshot */
};

/*
 * Choose a signal, install the handler, and sample the caller once, so that later samples find all pages in memory. One
 * sampler at a time.
 *   sampler  zeroed memory that stays mapped for ever: a late signal may arrive after mire__sampler_close
 * Returns MIRE_OK, also if no signal is available (running threads then have no stack);
 *         MIRE_E_SYSTEM (own memory cannot be read safely).
 */
enum mire_err mire__sampler_open(struct sampler *sampler);

/* Restore the signal's action. */
void mire__sampler_close(struct sampler *sampler);

/* Update the list of modules, and add new ones to the box, which may be NULL. */
void mire__sampler_look(struct sampler *sampler, struct blackbox *box);

/*
 * Take a sample of a thread of this process. All fields are set; a sample without a stack is flagged SILENT, and `loss`
 * has the reason.
 *   box  receives images that were loaded meanwhile; may be NULL
 * Thread: check thread. Waits for MIRE_ANSWER_NS at most, or MIRE_DEAF_ANSWER_NS if the thread blocks the signal;
 * longer only while the handler runs.
 */
void mire__sampler_take(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box);

/*
 * The same for a thread that crashed with these registers and waits in its handler. A call of an address without code
 * has the caller as its innermost frame.
 */
void mire__sampler_take_given(struct sample *out, struct sampler *sampler, uint32_t tid, const struct regs *regs,
                              struct blackbox *box);

/* The same of a stack that is known: addresses behind the calls, innermost first, at most MIRE_DEPTH_MAX. */
void mire__sampler_take_callers(struct sample *out, struct sampler *sampler, const uintptr_t *callers, uint32_t count,
                                struct blackbox *box);

/*
 * The same for a sleeping thread, without disturbing it. False: it does not sleep, or the kernel hides its stack.
 *   box  receives functions of scripts; may be NULL
 * Thread: check thread.
 */
bool mire__sampler_take_asleep(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box);

#endif
