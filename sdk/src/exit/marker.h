/*
 * marker.h - what a signal that ends the process leaves behind.
 *
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS: the handler makes an empty file, `<run>.crash`, before it
 * touches anything else; then it notes the signal in the evidence; then it hands the signal to whose handler it
 * displaced, or lets it end the process as if there were no handler. A crash within that is counted, and at the third
 * the process ends at once. Where the displaced handler repairs the cause and returns, the mark is taken back.
 *
 * SIGTERM, SIGINT, SIGHUP: only where nobody handles or ignores them; noted in the evidence, then they end the process.
 *
 * A forked child keeps the handlers; there they mark nothing.
 */
#ifndef MIRE_EXIT_MARKER_H
#define MIRE_EXIT_MARKER_H

#include "base/base.h"

/*
 * Put the handlers in place. Again after mire__marker_stop or in a forked child is fine.
 *
 *   crash_path  of the file to be; copied, MIRE_STORE_PATH_MAX bytes at most
 *   which       MIRE_SIGNALS_CRASH: the first seven, MIRE_SIGNALS_QUIT: the last three; see mire/exit.h
 *
 * Thread: the one that starts; it gets a stack for handlers if it has none, so that the overflow of its own is marked.
 */
void mire__marker_start(const char *crash_path, unsigned which);

/* Take them away again where they are still in place; where they are not, they pass on what comes to them. */
void mire__marker_stop(void);

/* A bit for each of the seven signals, in the order above, whose handler is another's now. Thread: any. */
uint32_t mire__marker_foreign(void);

#endif
