/*
 * signal.h - the choice of the sampling signal: one that the program does not use.
 *
 *     libc's own (32)   preferred: the program cannot use, block or ignore it, nor see that it is taken. Signals of
 *                       libc's own go to the handler that libc has there, or installs there later
 *     SIGURG            if the first is refused: its default action is to be ignored
 *     realtime signals  from the last one down
 *
 * The latter two only while their action is the default one. Before each signal the action is checked: if the program
 * has replaced the handler, or the thread blocks the signal, another signal is chosen. No signal stays pending: a
 * signal that a thread blocks is taken back.
 *
 * Private to capture/. Thread: as mire__sampler_*.
 */
#ifndef MIRE_CAPTURE_SIGNAL_H
#define MIRE_CAPTURE_SIGNAL_H

#include "capture/sampler.h"

/* Choose a signal for all threads. False: none is available now; mire__signal_choose tries again. */
bool mire__signal_open(struct sampler *sampler);

/* Restore the signal's action. A signal that may still be under way keeps its handler, which then does nothing. */
void mire__signal_close(struct sampler *sampler);

/* Install the handler again if necessary. False: it cannot be, and no timer that raises the signal may be started. */
bool mire__signal_holds(struct sampler *sampler);

/*
 * Set sampler->signal to one that this thread accepts.
 * Returns MIRE_LOSS_NONE; MIRE_LOSS_BLOCKED (the thread blocks all available signals); MIRE_LOSS_NO_SIGNAL.
 */
enum mire__loss mire__signal_choose(struct sampler *sampler, uint32_t tid);

/*
 * Send the signal.
 * Returns MIRE_LOSS_NONE; MIRE_LOSS_GONE (no such thread); MIRE_LOSS_NO_SIGNAL (refused, or the program is in exec).
 */
enum mire__loss mire__signal_send(struct sampler *sampler, uint32_t tid);

/* The thread has not answered: take a pending signal back. Returns the reason. */
enum mire__loss mire__signal_take_back(struct sampler *sampler, uint32_t tid);

#endif
