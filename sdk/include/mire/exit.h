/*
 * mire/exit.h - what the library is told, and may do, to find out why a run ended.
 *
 * Each run leaves evidence in the store: what it did to end itself, what a signal left behind, how it stood with its
 * memory. The next start, or mire-run, judges it; see docs/exits.md. Nothing needs to be called for that but
 * mire_start; an app that knows more says so here and by mire_set_foreground.
 */
#ifndef MIRE_EXIT_H
#define MIRE_EXIT_H

#include "mire/mire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who wants the program to end. */
enum mire_quit {
    MIRE_QUIT_NOT = 0,    /* nobody: the user thought better of it */
    MIRE_QUIT_USER = 1,   /* its user: the window was closed, "Quit" was chosen */
    MIRE_QUIT_SESSION = 2 /* the session ends: logout, shutdown */
};

/*
 * Tell that the program is about to end, and for whom. However it ends after that, by a kill because it took too long
 * among others, is no fault of its own.
 *
 * Cost: a store.  Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_set_quit(enum mire_quit why);

/* Signals that leave a mark. */
enum {
    MIRE_SIGNALS_CRASH = 1, /* SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS; handlers that the app has set
                               before are called afterwards, as if there were no other */
    MIRE_SIGNALS_QUIT = 2   /* SIGTERM, SIGINT, SIGHUP, where they would end the process: where mire_start finds them
                               handled or ignored they are left alone */
};

/*
 * Which signals the library may handle between mire_start and mire_stop. Handlers that the app sets later take their
 * place. Without a mark a crash is told from a kill only where mire-run is the parent.
 *
 *   which  MIRE_SIGNALS_CRASH, MIRE_SIGNALS_QUIT, both (default) or 0
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_signals(mire_options *options, unsigned which);

#ifdef __cplusplus
}
#endif
#endif
