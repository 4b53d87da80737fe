/*
 * marker.h - records signals that end the process.
 *
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS: the handler first creates an empty file, `<run>.crash`;
 * then it stores the signal in the evidence; then it calls the handler that it displaced, or lets the signal end the
 * process as if there were no handler. A crash inside is counted, and the third one ends the process at once. If the
 * displaced handler repairs the cause and returns, the mark is removed. Between mark and displaced handler `crashed` is
 * called, for the first crash alone; `repaired` where the mark is removed.
 *
 * SIGTERM, SIGINT, SIGHUP: only if they have their default action; they are stored in the evidence, then end the
 * process.
 *
 * In a forked child the handlers stay, without effect.
 */
#ifndef MIRE_EXIT_MARKER_H
#define MIRE_EXIT_MARKER_H

#include "base/base.h"

/* Called in a handler; either may be NULL. */
struct marker_hooks {
    void (*crashed)(int signal, const void *ucontext);
    void (*repaired)(void);
};

/*
 * Install the handlers. May be called again after mire__marker_stop, or in a forked child.
 *
 *   crash_path  path of the crash file; copied, at most MIRE_STORE_PATH_MAX bytes
 *   hooks       copied; NULL: none
 *   which       MIRE_SIGNALS_CRASH: the first seven, MIRE_SIGNALS_QUIT: the last three; see mire/exit.h
 *
 * Thread: the one that starts. It gets an alternate signal stack if it has none, so that its stack overflow is
 * recorded.
 */
void mire__marker_start(const char *crash_path, unsigned which, const struct marker_hooks *hooks);

/* Restore the displaced handlers. A handler that was displaced in turn stays, and only passes signals on. */
void mire__marker_stop(void);

/* A bit for each of the seven signals, in the order above, whose handler was replaced. Thread: any. */
uint32_t mire__marker_foreign(void);

#endif
