/*
 * runs.h - the files of one run, which share a name in <dir>/box and differ in their suffix.
 *
 *     <n>.exit   evidence of its end: made first, deleted last; who holds its lock is alive
 *     <n>.box    its blackbox, while it is watched
 *     <n>.heap   its memory tables
 *     <n>.crash  it crashed, whatever is in it
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

/* Where a file of the run lies. False: the path is too long. */
bool mire__store_run_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run,
                          const char *suffix);

/* A run that is over. Borrowed until the callback returns. */
struct store_run {
    char name[MIRE_STORE_RUN_BYTES];
    const void *evidence;
    size_t size;
    bool crash_file; /* there is one */
};

/*
 * What to do with a run: `true` when all that it tells is told, so that evidence and crash file are deleted. Its other
 * files are the callback's.
 */
typedef bool mire__store_run_fn(void *context, const struct store_run *run);

/*
 * Hand every run that is over and has evidence to `take`, each to one caller at a time: the evidence stays locked
 * meanwhile. What was written aside in the store's directory an hour ago, and never renamed, is deleted.
 */
void mire__store_runs_recover(struct store *store, mire__store_run_fn *take, void *context);

/*
 * After both recoveries: runs that are over and still here could not be told, for want of disk or memory. Delete those
 * older than caps.age_ms, and of the others all but the newest MIRE_STORE_RUNS: a blackbox counts as a loss, by age or
 * for want of room.
 *
 * Returns how many runs were deleted.
 */
#define MIRE_STORE_RUNS 8
size_t mire__store_runs_enforce(struct store *store, uint64_t now_ms);

/*
 * mire__store_recover for the blackbox of one run. Returns whether it is gone, or never was.
 */
bool mire__store_run_box(struct store *store, const char *run, mire__store_box_fn *take, void *context);

#endif
