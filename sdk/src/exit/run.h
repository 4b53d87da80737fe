/*
 * run.h - this process's own evidence, and what is noted into it.
 *
 * The file is made by the first mire_start and stays mapped for the life of the process, so that a late thread or a
 * signal handler never meets memory that is gone. A forked child inherits neither; it has a run of its own when it
 * starts.
 */
#ifndef MIRE_EXIT_RUN_H
#define MIRE_EXIT_RUN_H

#include "exit/evidence.h"
#include "ring/event.h"
#include "store/runs.h"

/* The name that all files of this process's run share in the store. Static; another one in a forked child. Thread: the
 * one that starts. */
const char *mire__run_id(void);

/*
 * Make the evidence, or go on with it after mire__run_stop.
 *   start   copied
 *   ground  as the app has told so far
 * Returns MIRE_OK, MIRE_E_STORE, MIRE_E_SYSTEM: this run has none. Thread: the one that starts.
 */
enum mire_err mire__run_open(struct store *store, const struct evidence_start *start, enum mire__ground ground);

/* The watch ends, by exit or mire_stop. Thread: the one that stops. */
void mire__run_stop(void);

/* Delete the evidence: notes still go into its memory, and mire__run_open makes it anew. Thread: as above. */
void mire__run_discard(void);

/* The evidence; NULL if there is none, or in a forked child. Borrowed for the life of the process. Signal handler: yes.
 */
struct evidence *mire__run_as_evidence(void);

/* Notes. Without evidence: nothing. Thread: any. Signal handler: yes. */
void mire__run_as_note_ground(enum mire__ground ground);
void mire__run_as_note_quit(enum mire_quit quit);

#endif
