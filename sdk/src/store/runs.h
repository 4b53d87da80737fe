/*
 * runs.h - runs that have ended: recovered one by one, or deleted. Their files are in run_files.h.
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_RUNS_H
#define MIRE_STORE_RUNS_H

#include "store/run_files.h"
#include "store/store.h"

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
