/*
 * allochook.h - the door of this folder: calls of the program that allocate or map memory, recorded in the tables of a run.
 *
 *     hooks.h       the intercepted calls, and their binding to the real ones
 *     call_site.h   the same for an allocator of the app's own
 *     apple.h       the same on Apple's systems, which have no hooks of calls
 *     gobject.h     names of the classes of objects
 *     this header   begin and end of a run
 *
 * Threads: hooks run on every thread of the program, and in a signal handler wherever the real call may. The functions
 * below name their thread. Every wait of a hook is bounded.
 * Errors: a call that cannot be recorded is counted in the tables (enum heap_drop). The program gets the result and the
 * errno of the real call in any case.
 * Ownership: the tables belong to the caller of mire__collect_begin. The states of threads are never freed.
 */
#ifndef MIRE_ALLOCHOOK_ALLOCHOOK_H
#define MIRE_ALLOCHOOK_ALLOCHOOK_H

#include "allochook/apple.h"
#include "allochook/call_site.h"
#include "allochook/gobject.h"
#include "allochook/hooks.h"

/*
 * Record from now on, in tables that were opened. One run at a time.
 *   heap   stays until mire__collect_end
 * Returns MIRE_OK, MIRE_E_MEMORY (no address space).
 * Thread: one at a time.  Signal handler: no.
 */
enum mire_err mire__collect_begin(struct heap *heap);

/*
 * Record nothing any more. Returns true if no thread works on the tables afterwards; false if one still did after
 * 200 ms (it may be stopped): then they must stay for ever. The slots must stay in any case.
 * Thread: as begin.
 */
bool mire__collect_end(void);

/*
 * Between begin and end: call `wake` once, when something is recorded. An idle process is not woken to look after its
 * tables.
 *   wake  on the thread that allocates: it must not block, allocate or take long
 */
void mire__collect_rest(void (*wake)(void *context), void *context);

/* The calling thread belongs to the SDK: its allocations are not the program's. */
void mire__collect_own_thread(void);

/* The same until end, for threads that it makes meanwhile too. Returns what end needs. */
struct collect_thread *mire__collect_own_begin(void);
void mire__collect_own_end(struct collect_thread *before);

/* Bring the mappings in the tables up to date, on a system without hooks for them; elsewhere no effect. Thread: worker. */
void mire__mappings_sweep(struct heap *heap);

/* Record the end of threads that have ended, and free their states. Thread: one at a time. */
void mire__collect_sweep(struct heap *heap);

#endif
