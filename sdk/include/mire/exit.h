/*
 * mire/exit.h - why a run ended: optional hints from the app, and the signals that the library handles.
 *
 * Each run records evidence in the store: calls that end the process, signals, and memory use. The next start, or
 * mire-run, decides from the evidence why the run ended; see docs/exits.md. mire_start alone enables this. The
 * functions here, and mire_set_foreground, make the verdict more precise.
 */
#ifndef MIRE_EXIT_H
#define MIRE_EXIT_H

#include "mire/mire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The origin of a requested end. */
enum mire_quit {
    MIRE_QUIT_NOT = 0,    /* none: the request was withdrawn */
    MIRE_QUIT_USER = 1,   /* the user: closed the window, chose "Quit" */
    MIRE_QUIT_SESSION = 2 /* the end of the user's session: logout, shutdown */
};

/*
 * Announce that the program is about to end on request. Any end after this call, such as a kill because it took too
 * long, is then reported as a requested one.
 *
 * Cost: one store.  Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_set_quit(enum mire_quit why);

/* Groups of signals that the library can record. */
enum {
    MIRE_SIGNALS_CRASH = 1, /* SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS. The library's handler then
                               calls the handler that the app had set before mire_start */
    MIRE_SIGNALS_QUIT = 2   /* SIGTERM, SIGINT, SIGHUP, but only those whose action is the default one at mire_start */
};

/*
 * Choose the signals that the library handles between mire_start and mire_stop. A handler that the app sets later
 * replaces the library's. Without its signal a crash cannot be told from a kill, unless mire-run is the parent.
 *
 *   which  MIRE_SIGNALS_CRASH, MIRE_SIGNALS_QUIT, both (default) or 0
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_signals(mire_options *options, unsigned which);

#ifdef __cplusplus
}
#endif
#endif
