/*
 * signal.h - the signal that a running thread is asked with: one that the program does not use.
 *
 *     libc's own (32)   first of all: the program cannot use, block, ignore or wait for it, nor see that it is taken.
 *                       A handler that libc has there, or puts there later, is called for the signals that are libc's
 *     SIGURG            where that one is refused: its default is to be ignored
 *     realtime ones     from the last one down
 *
 * The other ones only while their action is the default. Before each signal it is looked at what the program has done
 * since: who takes the handler away gets another signal chosen, and so does a thread that blocks the one in use. None
 * stays pending: one that was not answered and lies with a thread that blocks it is taken back.
 *
 * Private to capture/. Thread: as mire__sampler_*.
 */
#ifndef MIRE_CAPTURE_SIGNAL_H
#define MIRE_CAPTURE_SIGNAL_H

#include "capture/sampler.h"

/* Take a signal for all threads. False: none is to be had now; mire__signal_choose tries again. */
bool mire__signal_open(struct sampler *sampler);

/* Put the signal's action back. One that may still be under way keeps its handler, which does nothing. */
void mire__signal_close(struct sampler *sampler);

/* Is the handler in place, or can it be put there again? Else nothing that raises the signal may be set going. */
bool mire__signal_holds(struct sampler *sampler);

/*
 * Have a signal in sampler->signal that this thread takes; changes it if need be.
 * Returns MIRE_LOSS_NONE; MIRE_LOSS_BLOCKED: the thread blocks all that could be had; MIRE_LOSS_NO_SIGNAL.
 */
enum mire__loss mire__signal_choose(struct sampler *sampler, uint32_t tid);

/*
 * Send it.
 * Returns MIRE_LOSS_NONE; MIRE_LOSS_GONE: no such thread; MIRE_LOSS_NO_SIGNAL: refused, or the program is about to be
 * replaced.
 */
enum mire__loss mire__signal_send(struct sampler *sampler, uint32_t tid);

/* The thread has not answered. Returns why; a signal that lies there blocked has been taken back. */
enum mire__loss mire__signal_take_back(struct sampler *sampler, uint32_t tid);

#endif
