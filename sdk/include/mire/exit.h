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

#include <stddef.h>

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

/* The end of a run, as docs/exits.md judges it. */
struct mire_run_end {
    char verdict[24];        /* "clean_exit", "crash", "watchdog_kill", "foom", ...; "": no run has ended before */
    uint32_t confidence_ppm; /* probability of the verdict in millionths */
    uint64_t start_wall_ms;  /* milliseconds since 1970: the run's begin */
    uint64_t seen_wall_ms;   /* its last activity */
};

/*
 * Get the reason why the previous run of this program ended, for an app that starts with fewer features after a crash
 * or a kill. The library's thread judges the runs within some milliseconds of mire_start.
 *
 *   out         zeroed unless MIRE_OK
 *   timeout_ms  longest wait for the judgement, milliseconds; 0: no wait
 *
 * Returns MIRE_OK, MIRE_E_ARG (out is NULL), MIRE_E_STATE (not started), MIRE_E_TIMEOUT (not judged yet), MIRE_E_MEMORY.
 * Thread: any; reads a small file.  Signal handler: no.
 */
MIRE_API enum mire_err mire_previous_end(struct mire_run_end *out, uint32_t timeout_ms);

/* Groups of signals that the library can record. */
enum {
    MIRE_SIGNALS_CRASH = 1, /* SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS. The library's handler then
                               calls the handler that the app had set before mire_start */
    MIRE_SIGNALS_QUIT = 2   /* SIGTERM, SIGINT, SIGHUP, but only those whose action is the default one at mire_start */
};

/*
 * Choose the signals that the library handles between mire_start and mire_stop. A handler that the app sets later
 * replaces the library's. Without its signal a crash cannot be distinguished from a kill, unless mire-run is the parent.
 *
 *   which  MIRE_SIGNALS_CRASH, MIRE_SIGNALS_QUIT, both (default) or 0
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_signals(mire_options *options, unsigned which);

/* The reason that the system names for the end of a process. */
enum mire_end {
    MIRE_END_UNKNOWN = 0,
    MIRE_END_EXIT = 1,         /* the program ended itself */
    MIRE_END_SIGNAL = 2,       /* by the signal `status`; of a crash of native code the crash's */
    MIRE_END_CRASH = 3,        /* an exception that nobody caught */
    MIRE_END_HANG = 4,         /* it did not respond */
    MIRE_END_LOW_MEMORY = 5,   /* the system needed memory */
    MIRE_END_MEMORY_LIMIT = 6, /* the process had more memory than it may have */
    MIRE_END_USER = 7,         /* the user's wish */
    MIRE_END_UPGRADE = 8,      /* the app was upgraded, or its settings changed */
    MIRE_END_SYSTEM = 9        /* another reason of the system's */
};

/*
 * Give the next mire_start the system's record of the end of an earlier run, such as ApplicationExitInfo on Android.
 * The record outweighs every other sign of the verdict. Runs that the store does not have, or that are judged already,
 * are not affected.
 *
 *   run     from mire_run in that process
 *   end     MIRE_END_EXIT..MIRE_END_SYSTEM
 *   status  the signal of MIRE_END_SIGNAL, 1..64; otherwise 0
 *
 * Returns MIRE_OK, MIRE_E_ARG (run is no name of a run), MIRE_E_RANGE, MIRE_E_FULL (16 runs).
 */
MIRE_API enum mire_err mire_options_add_end(mire_options *options, const char *run, enum mire_end end, int status);

/*
 * Reads the system's trace of an ended run: the text of an ANR, or a tombstone (text or protobuf). The report of the
 * hang or crash that ended the run has its stacks; memory contents, logs and mappings do not leave the device.
 *
 *   run  as in mire_options_add_end
 *   out  room for `cap` bytes; a longer trace is cut
 *
 * Returns the bytes written; 0: there is none. Thread: the library's worker, for runs that ended by MIRE_END_SIGNAL,
 * _CRASH or _HANG; mire_stop waits for it.
 */
typedef size_t mire_trace_fn(void *context, const char *run, void *out, size_t cap);

/*
 * Set the function that reads traces.
 *
 *   read     NULL, the default: none
 *   context  must stay valid until mire_stop
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL).
 */
MIRE_API enum mire_err mire_options_set_trace(mire_options *options, mire_trace_fn *read, void *context);

/*
 * Send a payload of MetricKit: the jsonRepresentation of MXDiagnosticPayload or MXMetricPayload, or the JSON of the
 * Codable form. Hangs, crashes, CPU and disk write exceptions and slow launches become reports; exits that MetricKit
 * counts and libmire did not see become ends of runs. The payload is stored unchanged and delivered like every report
 * (mire/delivery.h); a hook sees the payload itself. The library adds a first member, `mire`, with the installation and
 * its last runs, by which the server finds the run of a diagnostic or an exit. A payload that is sent twice counts
 * once.
 *
 *   json  `size_bytes` of UTF-8; borrowed
 *
 * Returns MIRE_OK, MIRE_E_ARG (json has neither a diagnostic nor a count of exits), MIRE_E_FULL (larger than 8 MiB, or
 * no room in the store), MIRE_E_STATE (not started), MIRE_E_STORE, MIRE_E_MEMORY.
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_metrickit(const void *json, size_t size_bytes);

/*
 * On Apple's systems: have the library subscribe to MetricKit itself, from mire_start to mire_stop, and call
 * mire_metrickit for each payload. Off by default. No effect on other systems.
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL).
 */
MIRE_API enum mire_err mire_options_set_metrickit(mire_options *options, int subscribes);

/*
 * Returns the name of this run, 32 hexadecimal digits. The app passes the name to the system, to find the record later.
 * Static; a forked child has a different name. Thread: that of mire_start, before or after it.
 */
MIRE_API const char *mire_run(void);

#ifdef __cplusplus
}
#endif
#endif
