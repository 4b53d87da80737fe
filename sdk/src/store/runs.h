/*
 * runs.h - the files of one run, which share a name in <dir>/box and differ in their suffix.
 *
 *     <n>.exit   evidence of its end: created first, deleted last; locked while the process is alive
 *     <n>.box    its blackbox, while it is watched
 *     <n>.heap   its memory tables
 *     <n>.crash  marks a crash, whatever its content
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_RUNS_H
#define MIRE_STORE_RUNS_H

#include "store/store.h"

#define MIRE_STORE_RUN_BYTES 33 /* 32 hex digits and a NUL */

#define MIRE_STORE_EXIT  ".exit"
#define MIRE_STORE_BOX   ".box"
#define MIRE_STORE_HEAP  ".heap"
#define MIRE_STORE_CRASH ".crash"

/* A new name: 128 random bits. */
void mire__store_run_name(char run[MIRE_STORE_RUN_BYTES]);

/* The path of a file of the run. False: it is too long. */
bool mire__store_run_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run,
                          const char *suffix);

/* An ended run. Borrowed until the callback returns. */
struct store_run {
    char name[MIRE_STORE_RUN_BYTES];
    const void *evidence;
    size_t size;
    bool crash_file; /* it exists */
};

/*
 * Handles an ended run. Returns true if all its reports are sealed; evidence and crash file are then deleted. The
 * callback handles the other files.
 */
typedef bool mire__store_run_fn(void *context, const struct store_run *run);

/*
 * Give every ended run with evidence to `take`, each to one caller at a time, with the evidence locked. Also deletes
 * files in the store's directory that were written aside an hour ago and never renamed.
 */
void mire__store_runs_recover(struct store *store, mire__store_run_fn *take, void *context);

/*
 * After both recoveries, the remaining ended runs could not be reported, for lack of disk or memory. Delete those older
 * than caps.age_ms, and of the others all but the newest MIRE_STORE_RUNS. A deleted blackbox counts as a loss.
 *
 * Returns the number of deleted runs.
 */
#define MIRE_STORE_RUNS 8
size_t mire__store_runs_enforce(struct store *store, uint64_t now_ms);

/*
 * mire__store_recover for the blackbox of one run. Returns whether the file no longer exists.
 */
bool mire__store_run_box(struct store *store, const char *run, mire__store_box_fn *take, void *context);

#endif
