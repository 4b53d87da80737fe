/*
 * run_loop.h - a CFRunLoop as a thread's gate.
 *
 *     Entry  BeforeTimers  BeforeSources  BeforeWaiting |  AfterWaiting  BeforeTimers ...  BeforeWaiting |      Exit
 *     '--------------- a turn ------------------------' |  '---------------- a turn -----------------' |
 *     first                                       last     first                                 last           last
 *
 * Two observers enclose those of the app: `first` has the lowest order, `last` the highest, so Core Animation's commit
 * in BeforeWaiting belongs to the turn. They are in the common modes, and in UIKit's mode of the launch. A loop that
 * goes round without waiting begins another turn each time. A loop inside a turn has turns of its own, and the turn
 * around it goes on as another one. A launch ends with the first wait.
 *
 * A loop that runs in a mode of the app's own, which is no common mode, is not observed: see loop_apple.c.
 */
#ifndef MIRE_GATE_RUN_LOOP_H
#define MIRE_GATE_RUN_LOOP_H

#include "mire/mire.h"

/*
 * Observe the calling thread's run loop, which may run already. A second call has no effect.
 * Returns MIRE_OK, MIRE_E_FULL (MIRE_WATCHED_MAX loops are observed), MIRE_E_MEMORY.
 */
enum mire_err mire__run_loop_observe(void);

/* Stop observing the loop. Thread: the observed one. */
void mire__run_loop_forget(void);

/* Observe none any more. Thread: any; a callback that runs just now has no effect on the gate. */
void mire__run_loop_forget_all(void);

#endif
