/*
 * run.h - the evidence of this process.
 *
 * The first mire_start creates the file. It stays mapped for the life of the process, so that a late thread or a signal
 * handler never accesses unmapped memory. A forked child does not inherit it; it has its own from its start on.
 */
#ifndef MIRE_EXIT_RUN_H
#define MIRE_EXIT_RUN_H

#include "exit/evidence.h"
#include "exit/note.h"
#include "store/runs.h"

/* The name that all files of this process's run share in the store. Static; another one in a forked child. Thread: the
 * one that starts. */
const char *mire__run_id(void);

/*
 * Create the evidence, or continue it after mire__run_stop.
 *   start   copied
 *   ground  foreground or background so far
 * Returns MIRE_OK; MIRE_E_STORE, MIRE_E_SYSTEM: this run has no evidence. Thread: the one that starts.
 */
enum mire_err mire__run_open(struct store *store, const struct evidence_start *start, enum mire__ground ground);

/* Watching ends, by exit or mire_stop. Thread: the one that stops. */
void mire__run_stop(void);

/* Delete the file. Later stores still go into the memory, and mire__run_open creates a new file. Thread: as above. */
void mire__run_discard(void);

#endif
