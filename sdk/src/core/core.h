/*
 * core.h - start, stop and what runs in between, for the ways in: the public calls and the preload library.
 *
 * The one global of the SDK lives behind this header (core/mire.c).
 */
#ifndef MIRE_CORE_CORE_H
#define MIRE_CORE_CORE_H

#include "mire/mire.h"

#include <stdbool.h>

struct monitor_context;

/*
 * What watches this process (core/monitors.h); nothing may run in it, where the process is sampled out. NULL: it is not
 * started, or this is a forked child.
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
 *   MIRE_STORE_OTHERS                 name of a store for a user who may not write there (core/place.h)
 *   MIRE_SESSION                      name of the session that the process is a part of (store/sessions.h)
 *   MIRE_THRESHOLD_MS, MIRE_PERIOD_MS decimal numbers
 *   MIRE_SETTINGS                     "name=value ...", as mire_options_set_number
 *   MIRE_THREADS                      "name,name", as mire_options_add_thread
 *   MIRE_SIGNALS                      0..3, as mire_options_set_signals
 *   MIRE_MEMORY                       "off", "exact", "sampled" (default) or "sampled:INTERVAL" in bytes
 *   MIRE_MEMORY_BUDGET                bytes, as mire_options_set_memory_budget
 *   MIRE_SERVER, MIRE_KEY             used by libmire only; the preload library never sends
 *
 * A value that its setter refuses is treated as absent.
 *
 *   launch  false: the calling thread is about to wait, its launch is over
 *
 * Returns as mire_start.
 * Thread: the one to watch; before main() is fine, the heap must work.
 */
enum mire_err mire__core_start_from_environment(bool launch);

/*
 * The program is going to change what it may do with files: its rights, its root directory, its namespaces. What it
 * notes from now on has a place all the same (store/outbox.h). Thread: any, outside of handlers; nothing in a process
 * that is not started.
 */
void mire__core_expect_change(void);

/*
 * Have our threads end for a moment, for a call that the kernel allows to a process with one thread, or that concerns
 * the calling thread alone: ours, made anew after it, are as the caller is then. Nothing that was noted is lost.
 *
 * Pausing returns whether they have ended, and resuming is to follow. Where no thread can be made then, as in a process
 * whose children belong to another PID namespace, it is watched no more; its children are.
 * Thread: any of the program's, outside of handlers, the same for both.
 */
bool mire__core_pause(void);
void mire__core_resume(void);

/*
 * Would a change of the program's user fail with our threads? The C library changes each thread it knows of, and aborts
 * the program where that fails with one and not with another. Ours fail where the program has kept capabilities over
 * such a change before, for itself alone. Thread: any.
 */
bool mire__core_cannot_follow(void);

/*
 * The calling thread is going to confine itself by a seccomp filter that does not let our system calls through.
 *
 *   everybody  all threads of the process, ours too: everything is stopped
 *   returns    signal handlers may return. The calling thread, and all that it makes: what runs on it makes no
 *              system call any more, so memory is not noted and a crash not marked; hangs are still seen
 *
 * mire-run says so. Nothing starts in this process any more, nor in one that it forks.
 * Thread: any of the program's, outside of handlers.
 */
enum mire__confined {
    MIRE_CONFINED_NOT,
    MIRE_CONFINED_UNWATCHED, /* nothing ran */
    MIRE_CONFINED_QUIET,     /* hangs are still seen */
    MIRE_CONFINED_STOPPED
};
enum mire__confined mire__core_confine(bool everybody, bool returns);

/* A further filter, for all threads, of one that is confined already: ours end before it is in place. Takes 0.1 s. */
void mire__core_confine_again(void);

/* The kernel has refused the filter: go on as before. */
void mire__core_confine_undo(enum mire__confined how);

/*
 * Start anew in a forked child, with the options of the parent's start; called by the gate on the child's first waiting
 * call. Nothing of the parent's state is touched: its threads do not exist here and its locks may be held forever.
 * Without a successful start in the parent: does nothing.
 *
 * Returns as mire_start.
 * Thread: the child's only one.
 */
enum mire_err mire__core_restart_in_child(void);

#endif
