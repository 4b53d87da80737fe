/*
 * input.h - input events that wait for the app, by the calls of libinput.so on the sockets of its windows.
 *
 *     system --event--> recvfrom [ the view's handler, perhaps after others ] sendto --"handled"--> system
 *                       '------------------ the event waits -----------------'
 *
 * The system counts an ANR of input by the same two calls. Only libinput.so is hooked, and only the main thread's calls count.
 */
#ifndef MIRE_ANDROID_INPUT_H
#define MIRE_ANDROID_INPUT_H

#include "base/base.h"

/* An answer that took longer leaves a breadcrumb: "input waited 1240 ms for its answer". */
#define MIRE_INPUT_SLOW_MS 500

/*
 * Hook libinput.so, also if it is loaded later; the calling thread is the one that handles input. Unhook it.
 * Returns MIRE_OK, MIRE_E_FULL. Thread: as mire__patch_add.
 */
enum mire_err mire__input_open(void);
void mire__input_close(void);

/* Milliseconds for which the oldest event waits by now; 0: none does. Thread: any. */
uint32_t mire__input_waits_ms(void);

#endif
