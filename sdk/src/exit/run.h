/*
 * run.h - the evidence of this process.
 *
 * The first mire_start creates the file, which stays mapped for the life of the process, so that a late thread or a
 * signal handler never accesses unmapped memory. A forked child does not inherit the file; each child creates one at
 * its start.
 */
#ifndef MIRE_EXIT_RUN_H
#define MIRE_EXIT_RUN_H

#include "exit/evidence.h"
#include "exit/note.h"
#include "store/runs.h"

/* The common name of all files of this process's run in the store. Static; a forked child has a different name.
 * Thread: the caller of mire_start. */
const char *mire__run_id(void);

/*
 * Create the evidence, or continue it after mire__run_stop.
 *   start   copied
 *   ground  foreground or background so far
 * Returns MIRE_OK; MIRE_E_STORE, MIRE_E_SYSTEM: this run has no evidence. Thread: the caller of mire_start.
 */
enum mire_err mire__run_open(struct store *store, const struct evidence_start *start, enum mire__ground ground);

/* Watching ends, by exit or mire_stop. Thread: the caller of mire_stop. */
void mire__run_stop(void);

/* Delete the file. Later stores still go into the memory, and mire__run_open creates a new file. Thread: as above. */
void mire__run_discard(void);

#endif
