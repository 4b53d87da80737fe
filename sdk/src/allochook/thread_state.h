/*
 * thread_state.h - the states of threads that allocate. Private to heap/.
 */
#ifndef MIRE_ALLOCHOOK_THREAD_STATE_H
#define MIRE_ALLOCHOOK_THREAD_STATE_H

#include "allochook/allochook.h"

struct span {
    uint64_t start, end;
};

/* Make room for states, once; those there are belong to no run any more. False: no address space. */
bool mire__threads_open(void);

/* Is any thread at work on the tables? */
bool mire__threads_any_inside(const struct heap *heap);

/*
 * The calling thread's state with a slot of this run, its first time or again. NULL: it has none.
 *   sp     the stack pointer of the caller
 *   stack  the thread's, NULL if it has to be looked for
 */
struct collect_thread *mire__threads_as_begin(struct heap *heap, uint64_t sp, const struct span *stack);

/* The calling thread's stack is told, with the stack of whoever made it. */
void mire__threads_as_note_stack(struct collect_thread *self, uint32_t node);

/* Address space of ours: states, those that were inherited, the code's and the gate's; and room for the tables' two. */
#define MIRE_THREADS_PARENTS 32u
#define MIRE_THREADS_SPANS   (MIRE_THREADS_PARENTS + 37)
size_t mire__threads_spans(struct span out[MIRE_THREADS_SPANS]);

/*
 * Note what is mapped now, but what is ours; existing.c.
 *   scratch  8 KiB at least
 */
void mire__found_note(struct heap *heap, struct heap_slot *slot, char *scratch, size_t scratch_bytes);

#endif
