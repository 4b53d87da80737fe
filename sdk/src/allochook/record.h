/*
 * record.h - the state of a thread that allocates, and what a hook does around the real call. Inside allochook/ only.
 *
 *     hook (hooks.h) --> enter: the thread's state; NULL if nothing is recorded
 *                    --> the real call
 *                    --> record: stack -> node (call_stack.h), block -> tables (heap/blocks.h, heap/mappings.h)
 *
 * Every thread that allocates has a state from a pool, which is not on the heap. The state of a thread that has ended
 * goes to the next one. One page (struct collect_gate) has the tables in use. A forked child finds that page and the
 * states wiped, so it records nothing from its first instruction on, until a run of its own begins.
 */
#ifndef MIRE_ALLOCHOOK_RECORD_H
#define MIRE_ALLOCHOOK_RECORD_H

#include "allochook/call_stack.h"
#include "heap/heap.h"
#include "platform/locals.h"

/* An allocator uses less stack than that. */
#define MIRE_COLLECT_NESTED_BYTES (1u << 20)

/* Threads that allocate at a time. */
#define MIRE_COLLECT_THREADS 2048u

struct collect_thread {
    _Alignas(4096) _Atomic uint32_t tid; /* the owner; 0: free */
    uint32_t scope;                      /* class of what is allocated now, 0 none */
    uint32_t drawn;                      /* index of the interval that `more` was drawn by */
    uint32_t stack_of;                   /* the thread whose stack was recorded */
    int64_t more;                        /* sampling budget beyond `collect_left` (platform/locals.h), bytes */
    uint64_t stack_start, stack_end;     /* the stack's mapping, if it was recorded; otherwise 0 */
    uint64_t random;

    /* The members that each call in exact mode reads, in one cache line. */
    _Alignas(64) struct heap_slot *slot; /* mire__collect_has_slot */
    struct heap *heap;                   /* of the slot; stays mapped for ever */
    uint64_t fast_path_flags;            /* the tables' flags while this thread may take the fast path; otherwise 0 */
    _Atomic uint64_t calling_sp;         /* the stack pointer of a hook whose real call is under way; 0 none */
    uint64_t calling_size;               /* the size that this call allocates */
    struct call_stack stack;

    /* One page for a walk's new frames, one for the stacks of a thread that has few of them. */
    _Alignas(4096) struct self_fresh fresh[MIRE_SELF_DEPTH];
    struct stack_few few;
    struct stack_many many; /* in the first states alone: thread_state.c */
};
_Static_assert(sizeof(struct stack_few) == 4096 && offsetof(struct collect_thread, few) % 4096 == 0, "that is a page");

/* Found by its address relative to the code, without a table between. */
#define MIRE_INSIDE __attribute__((visibility("hidden")))

/* The first members that every hook reads. Wiped in a forked child. */
struct collect_gate {
    _Atomic(struct heap *) heap; /* NULL: nothing is recorded */
    void (*wake)(void *context); /* mire__collect_rest; stored before MIRE_FLAG_RESTS */
    void *context;
};
extern struct collect_gate *mire__collect_gate MIRE_INSIDE;
extern struct step_cache *mire__collect_steps MIRE_INSIDE;

/*
 * The slot of a thread that has none of this run and was inside a real call when the last run ended. It is never free
 * to enter, so the thread goes on as it began and records nothing. A slot is never NULL once the thread has had one.
 */
extern struct heap_slot mire__collect_closed MIRE_INSIDE;

/* Has the thread a slot of this run? */
static inline bool mire__collect_has_slot(const struct collect_thread *self)
{
    return self->slot && self->slot != &mire__collect_closed;
}

/* Is anything recorded now? */
static inline bool mire__collect_as_on(void)
{
    return atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed) != NULL;
}

/* The thread's first call in this run. */
struct collect_thread *mire__collect_as_enter_slow(uint64_t sp);

/*
 * Begin a call of the program's. A call from deeper in the stack than a real call that is under way comes from within
 * it, unless the real call was left by a jump.
 *   sp  the caller's stack pointer
 * Returns the thread's state for the other functions. NULL if nothing is to be recorded: the thread is the SDK's, or
 * the call comes from within another hook's real call.
 */
static inline struct collect_thread *mire__collect_as_enter(uint64_t sp)
{
    struct collect_thread *self = mire__locals_as_own()->collect;
    uint64_t calling;

    if (__builtin_expect(!self || !mire__collect_has_slot(self), 0))
        return mire__collect_as_enter_slow(sp);
    calling = atomic_load_explicit(&self->calling_sp, memory_order_relaxed);
    if (__builtin_expect(calling > sp && calling - sp < MIRE_COLLECT_NESTED_BYTES, 0))
        return NULL;
    atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    return self;
}

/* The real call is done. */
static inline void mire__collect_as_return(struct collect_thread *self)
{
    atomic_store_explicit(&self->calling_sp, 0, memory_order_release); /* acquired by the state's next owner */
}

/* Record a new block; in sampled mode if it is drawn. */
void mire__collect_as_alloc(struct collect_thread *self, const struct self_frame *site, const void *block, size_t size);

/* The same for the app's own allocator, whose blocks may begin anywhere: from now on blocks lie in all phases. */
void mire__collect_as_app_alloc(struct collect_thread *self, const struct self_frame *site, const void *block,
                                size_t size);

/* Forget a block. Call it before the allocator gets the block back. */
void mire__collect_as_free(struct collect_thread *self, const void *block);

/*
 * realloc: the old block ends before the real call, lives on if that fails, and hands its class to the new one.
 *   was   filled in by begin, for end
 *   done  the block after the call; NULL if the call failed or freed the old one
 */
struct collect_move {
    struct live_block block;
    bool known;
};
void mire__collect_as_move_begin(struct collect_move *was, struct collect_thread *self, const void *old);
void mire__collect_as_move_end(struct collect_thread *self, const struct self_frame *site,
                               const struct collect_move *was, const void *old, const void *done, size_t size);

/*
 * The mode is not sampled: give up the sampling budget. With 0 left the hooks look at the mode each time, and the next
 * block in sampled mode is drawn afresh.
 */
static inline void mire__collect_as_undraw(struct collect_thread *self)
{
    struct locals *own = mire__locals_as_own();

    if (own->collect_left == 0)
        return;
    own->collect_left = 0;
    if (self && mire__collect_has_slot(self))
        self->drawn = MIRE_HEAP_INTERVALS_MAX;
}

/* May these tables hold a block? One byte is read in sampled mode. */
static inline bool mire__collect_as_may_hold(const struct heap *heap, const void *block)
{
    return mire__heap_flags(heap, MIRE_FLAG_MODE | MIRE_FLAG_SHADOW) != MIRE_HEAP_SAMPLED ||
           mire__filter_may_hold(heap, (uintptr_t)block);
}

/* The same of the tables in use; false if there are none. */
static inline bool mire__collect_as_may_know(const void *block)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);

    return heap && block && mire__collect_as_may_hold(heap, block);
}

/* The node of the stack from a call on. Inside the slot. */
static inline uint32_t mire__collect_as_node(struct collect_thread *self, struct heap *heap,
                                             const struct self_frame *site)
{
    return mire__heap_as_mode(heap) == MIRE_HEAP_EXACT
               ? mire__call_stack_as_node(&self->stack, heap, mire__collect_steps, site)
               : mire__call_stack_as_walk_once(&self->stack, heap, mire__collect_steps, site);
}

/* Call `wake` of mire__collect_rest. */
void mire__collect_as_wake(struct heap *heap);

/* The tables, if something is to be recorded now: mire__collect_as_close must follow. NULL: nothing, and no close. */
static inline struct heap *mire__collect_as_open(struct collect_thread *self)
{
    struct heap *heap;

    if (__builtin_expect(!mire__slot_as_enter(self->slot), 0))
        return NULL;
    /* Read again inside the slot: mire__collect_end clears it, then waits until no thread is inside. */
    heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    if (__builtin_expect(!heap, 0))
        mire__slot_as_leave(self->slot);
    else if (__builtin_expect(mire__heap_flags(heap, MIRE_FLAG_RESTS), 0))
        mire__collect_as_wake(heap);
    return heap;
}
static inline void mire__collect_as_close(struct collect_thread *self)
{
    mire__slot_as_leave(self->slot);
}

#endif
