/*
 * thread_state.h - the states of threads that allocate. Private to allochook/.
 */
#ifndef MIRE_ALLOCHOOK_THREAD_STATE_H
#define MIRE_ALLOCHOOK_THREAD_STATE_H

#include "allochook/record.h"

struct span {
    uint64_t start, end;
};

/* Make room for states, once; existing states belong to no run any more. Returns false without address space. */
bool mire__threads_open(void);

/* Does any thread work on the tables? */
bool mire__threads_any_inside(const struct heap *heap);

/*
 * The calling thread's state, with a slot of this run. NULL if there is none to be had.
 *   sp     the stack pointer of the caller
 *   stack  the thread's, NULL if unknown
 */
struct collect_thread *mire__threads_as_begin(struct heap *heap, uint64_t sp, const struct span *stack);

/* Record the calling thread's stack as a mapping, with the stack that made the thread. */
void mire__threads_as_note_stack(struct collect_thread *self, uint32_t node);

/* Address space of this folder: states, inherited ones too, the step cache and the gate; with room for two more. */
#define MIRE_THREADS_PARENTS 32u
#define MIRE_THREADS_SPANS   (MIRE_THREADS_PARENTS + 37)
size_t mire__threads_spans(struct span out[MIRE_THREADS_SPANS]);

/*
 * Record the mappings that exist now, without the SDK's own; existing.c.
 *   scratch  8 KiB at least
 */
void mire__existing_record(struct heap *heap, struct heap_slot *slot, char *scratch, size_t scratch_bytes);

#endif
