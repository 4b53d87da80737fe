/*
 * core.h - start, stop and run-time control for the two ways in: the public calls and the preload library.
 *
 * The SDK's global is behind this header (core/state.h).
 */
#ifndef MIRE_CORE_CORE_H
#define MIRE_CORE_CORE_H

#include "mire/mire.h"

#include <stdbool.h>

struct monitor_context;

/*
 * The monitors of this process (core/monitors.h). None may be running, if the process is sampled out. NULL: the library
 * is not started, or this is a forked child.
 *
 * Thread: any.
 */
const struct monitor_context *mire__core_monitors(void);

/*
 * Start with options from the environment, as `mire-run` sets them:
 *
 *   MIRE_APP, MIRE_APP_VERSION        needed
 *   MIRE_APP_BUILD, MIRE_CHANNEL      optional
 *   MIRE_STORE                        directory
 *   MIRE_STORE_SYNC                   "seal", "always" or "never", as mire_options_set_store_sync
 *   MIRE_STORE_OTHERS                 name of the store for users who may not write MIRE_STORE
 *                                     (core/store_location.h)
 *   MIRE_SESSION                      name of the session that the process is part of (store/sessions.h)
 *   MIRE_THRESHOLD_MS, MIRE_PERIOD_MS decimal numbers
 *   MIRE_SETTINGS                     "name=value ...", as mire_options_set_number
 *   MIRE_THREADS                      "name,name", as mire_options_add_thread
 *   MIRE_SIGNALS                      0..3, as mire_options_set_signals
 *   MIRE_MEMORY                       "off", "exact", "sampled" (default) or "sampled:INTERVAL" in bytes
 *   MIRE_MEMORY_BUDGET                bytes, as mire_options_set_memory_budget
 *   MIRE_SERVER, MIRE_KEY             used by libmire only; the preload library never sends
 *
 * A value that its setter refuses counts as absent.
 *
 *   launch    false: the calling thread is about to wait, so its launch is over
 *   begun_ns  begin of the launch, CLOCK_MONOTONIC; 0: when the process started
 *
 * Returns as mire_start.
 * Thread: the one to watch, also before main(); the heap must work.
 */
enum mire_err mire__core_start_from_environment(bool launch, uint64_t begun_ns);

/*
 * Prepare for a change of the program's access to files: its rights, its root directory, its namespaces. Later reports
 * can still be stored (store/outbox.h). No effect if not started. Thread: any, outside of signal handlers.
 */
void mire__core_expect_change(void);

/*
 * End the library's threads for a call that requires a process with one thread, or that changes the calling thread
 * only; then create new ones, which inherit the caller's rights. No data is lost.
 *
 * pause returns whether the threads have ended; then resume must follow. If no thread can be created then (in a process
 * whose children belong to another PID namespace), the process is no longer watched; its children are.
 * Thread: any of the program's, outside of signal handlers, the same for both.
 */
bool mire__core_pause(void);
void mire__core_resume(void);

/*
 * Would a change of the program's user fail in the library's threads? The C library changes every thread that it knows,
 * and aborts the program if the change fails in some threads only. It fails in the library's threads if the program has
 * kept capabilities over an earlier change, which applies to its own thread only. Thread: any.
 */
bool mire__core_cannot_follow(void);

/*
 * Announce a seccomp filter of the program that refuses system calls of the library.
 *
 *   everybody  true: the filter is for all threads of the process, so everything is stopped. False: it is for the
 *              calling thread and the threads that it creates. The library then makes no system call on them: memory
 *              is not recorded and crashes are not marked; hangs are still found
 *   returns    the filter allows the return from signal handlers
 *
 * mire-run prints a message. No further start is possible in this process or its forked children.
 * Thread: any of the program's, outside of signal handlers.
 */
enum mire__confined {
    MIRE_CONFINED_NOT,
    MIRE_CONFINED_UNWATCHED, /* the process was not watched */
    MIRE_CONFINED_QUIET,     /* hangs are still found */
    MIRE_CONFINED_STOPPED
};
enum mire__confined mire__core_confine(bool everybody, bool returns);

/*
 * Announce a further filter, for all threads, in a confined process: the library's threads end before it is installed.
 * Takes 0.1 s.
 */
void mire__core_confine_again(void);

/* The kernel has refused the filter: continue as before. */
void mire__core_confine_undo(enum mire__confined how);

/*
 * Start in a forked child, with the options of the parent's start. The gate calls this on the child's first waiting
 * call. It does not touch the parent's state, because the parent's threads do not exist here and its locks may be held
 * for ever. No effect without a successful start in the parent.
 *
 * Returns as mire_start.
 * Thread: the child's only one.
 */
enum mire_err mire__core_restart_in_child(void);

#endif
