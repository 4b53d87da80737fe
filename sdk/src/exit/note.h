/* note.h - facts that other threads and signal handlers store into the evidence of this process. Part of run.h. */
#ifndef MIRE_EXIT_NOTE_H
#define MIRE_EXIT_NOTE_H

#include "exit/evidence.h"
#include "ring/event.h"

/* From now on the facts of this process go into `evidence`, which stays mapped for the life of the process. Private to
 * exit/. */
void mire__note_into(struct evidence *evidence);

/* The evidence; NULL if there is none, or in a forked child. Borrowed for the life of the process. Signal handler: yes.
 */
struct evidence *mire__run_as_evidence(void);

/* Store a fact; no effect without evidence. Thread: any. Signal handler: yes. */
void mire__run_as_note_ground(enum mire__ground ground);
void mire__run_as_note_quit(enum mire_quit quit);

#endif
