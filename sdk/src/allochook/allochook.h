/*
 * allochook.h - what happens to memory in this process, noted in the run's tables.
 *
 *     hooks (hooks.h) --> enter: whose thread, is anything noted now
 *                     --> the real call
 *                     --> note: stack -> node (walk.h), block -> tables (heap/blocks.h, heap/mappings.h)
 *
 * Every thread that allocates has a state here, from a pool without heap; that of a thread that has ended goes to the
 * next one. Whether anything is noted stands in one page that a forked child finds wiped, as it does the states: it
 * notes nothing from its first instruction on, until a run of its own is begun.
 */
#ifndef MIRE_ALLOCHOOK_ALLOCHOOK_H
#define MIRE_ALLOCHOOK_ALLOCHOOK_H

#include "allochook/call_stack.h"
#include "heap/blocks.h"
#include "heap/counters.h"
#include "heap/heap.h"

/* An allocator uses less stack than that. */
#define MIRE_COLLECT_NESTED_BYTES (1u << 20)

/* Threads that allocate at a time. */
#define MIRE_COLLECT_THREADS 2048u

struct collect_thread {
    _Alignas(4096) _Atomic uint32_t tid; /* whose it is; 0: nobody's */
    uint32_t scope;                      /* class of what is allocated now, 0 none */
    uint32_t drawn;                      /* index of the interval that the bytes left were drawn by */
    uint32_t stack_of;                   /* whose stack was noted */
    int64_t more;                        /* bytes left beyond mire__collect_left */
    uint64_t stack_start, stack_end;     /* its stack's mapping, if that was noted; else 0 */
    uint64_t random;

    /* What each call looks at in exact mode, in one line of the cache with the first of the walk. */
    _Alignas(64) struct heap_slot *slot; /* mire__collect_has_slot */
    struct heap *heap;                   /* whose slot it is; stays mapped, whatever becomes of the run */
    uint64_t usual;                      /* the tables' `how` while nothing is out of the ordinary here; else 0 */
    _Atomic uint64_t calling_sp;         /* the stack pointer at a hook whose real call is under way; 0 none */
    uint64_t calling_size;               /* what that call is to allocate */
    struct call_stack stack;

    /* One page for a walk's new frames, one for the stacks of a thread that has few of them. */
    _Alignas(4096) struct self_fresh fresh[MIRE_SELF_DEPTH];
    struct stack_few few;
    struct stack_many many; /* of the first states alone: thread_state.c */
};
_Static_assert(sizeof(struct stack_few) == 4096 && offsetof(struct collect_thread, few) % 4096 == 0, "that is a page");

/* Of this library alone: found by its place, without a table between. */
#define MIRE_INSIDE __attribute__((visibility("hidden")))

/* What the whole of a hook looks at first. Wiped in a forked child. */
struct collect_gate {
    _Atomic(struct heap *) heap; /* NULL: nothing is noted */
    void (*wake)(void *context); /* whoever looks after the tables; stored before MIRE_HOW_RESTS */
    void *context;
};
extern struct collect_gate *mire__collect_gate MIRE_INSIDE;
extern struct step_cache *mire__collect_steps MIRE_INSIDE;

/*
 * The calling thread's state, NULL before its first call; and how many bytes it may allocate until the next call that
 * is looked at more closely in sampled mode, 0 or more.
 */
extern __thread struct collect_thread *mire__collect_self __attribute__((tls_model("initial-exec")));
extern __thread int64_t mire__collect_left __attribute__((tls_model("initial-exec")));

/*
 * Note from now on, in tables that were opened. One run at a time.
 *   heap   stays until mire__collect_end
 * Returns MIRE_OK, MIRE_E_MEMORY (no address space).
 * Thread: one at a time.  Signal handler: no.
 */
enum mire_err mire__collect_begin(struct heap *heap);

/*
 * Note nothing any more. Returns true if no thread is at work on the tables afterwards; false if one still was after
 * 200 ms (it may be stopped): they must stay for ever then. The slots must stay in any case.
 * Thread: as begin.
 */
bool mire__collect_end(void);

/*
 * Let `wake` be called, once, when something is noted; so that nothing has to be looked after while nothing happens.
 *   wake  on the thread that allocates: it must not block, allocate or take long
 * Between mire__collect_begin and _end.
 */
void mire__collect_rest(void (*wake)(void *context), void *context);

/* The calling thread is ours: what it allocates is not the program's. */
void mire__collect_own_thread(void);

/* What the calling thread does meanwhile is ours: a thread that it makes too. `before` is for end. */
struct collect_thread *mire__collect_own_begin(void);
void mire__collect_own_end(struct collect_thread *before);

/* Look for threads that have ended: their stacks do, and their states are free. Thread: one at a time. */
void mire__collect_sweep(struct heap *heap);

/*
 * The slot of a thread that has none of this run, and was at a real call when the last one ended: it goes on from there
 * as it began, and does not get in. So a slot is never NULL once the thread has had one.
 */
extern struct heap_slot mire__collect_closed MIRE_INSIDE;

/* Has the thread a slot of this run? */
static inline bool mire__collect_has_slot(const struct collect_thread *self)
{
    return self->slot && self->slot != &mire__collect_closed;
}

/* Is anything noted at this moment? */
static inline bool mire__collect_as_on(void)
{
    return atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed) != NULL;
}

/* The rest of mire__collect_as_enter: the thread's first call in this run. */
struct collect_thread *mire__collect_as_enter_else(uint64_t sp);

/*
 * Begin a call of the program's. What comes from deeper in the stack than a real call that is under way comes from
 * within it, unless that one was left by a jump.
 *   sp  the caller's stack pointer
 * Returns the thread's state, to be given to the other functions; NULL if nothing is to be noted: the thread is ours,
 * or the call comes from within another hook's real call.
 */
static inline struct collect_thread *mire__collect_as_enter(uint64_t sp)
{
    struct collect_thread *self = mire__collect_self;
    uint64_t calling;

    if (__builtin_expect(!self || !mire__collect_has_slot(self), 0))
        return mire__collect_as_enter_else(sp);
    calling = atomic_load_explicit(&self->calling_sp, memory_order_relaxed);
    if (__builtin_expect(calling > sp && calling - sp < MIRE_COLLECT_NESTED_BYTES, 0))
        return NULL;
    atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    return self;
}

/* The real call is done. */
static inline void mire__collect_as_return(struct collect_thread *self)
{
    atomic_store_explicit(&self->calling_sp, 0, memory_order_release); /* for who takes the state over */
}

/* A block was allocated: it is noted, in sampled mode if it is drawn. */
void mire__collect_as_alloc(struct collect_thread *self, const struct self_frame *site, const void *block, size_t size);

/* The same of a block of the app's own allocator: it may begin anywhere, so that from now on any may (heap/shadow.h).
 */
void mire__collect_as_told(struct collect_thread *self, const struct self_frame *site, const void *block, size_t size);

/* A block is to be freed: call it before the allocator gets it back. */
void mire__collect_as_free(struct collect_thread *self, const void *block);

/*
 * realloc: the old block ends before the real call, lives on if that fails, and its class goes over to the new one.
 *   was   filled in by begin, for end
 *   done  the block that is there now; NULL if the call failed or freed the old one
 */
struct collect_move {
    struct live_block block;
    bool known;
};
void mire__collect_as_move_begin(struct collect_move *was, struct collect_thread *self, const void *old);
void mire__collect_as_move_end(struct collect_thread *self, const struct self_frame *site,
                               const struct collect_move *was, const void *old, const void *done, size_t size);

/*
 * Nothing is drawn now. What is left goes on being taken off, and is no longer what it was drawn as: with 0 the hooks
 * look at the mode each time, and the next that counts in sampled mode is drawn anew.
 */
static inline void mire__collect_as_undraw(struct collect_thread *self)
{
    if (mire__collect_left == 0)
        return;
    mire__collect_left = 0;
    if (self && mire__collect_has_slot(self))
        self->drawn = MIRE_HEAP_INTERVALS_MAX;
}

/* May these tables know of a block? A look at one byte in sampled mode. */
static inline bool mire__collect_as_may_hold(const struct heap *heap, const void *block)
{
    return mire__heap_how(heap, MIRE_HOW_MODE | MIRE_HOW_CELLS) != MIRE_HEAP_SAMPLED ||
           mire__blocks_maybe(heap, (uintptr_t)block);
}

/* May the tables there are know of this block? */
static inline bool mire__collect_as_may_know(const void *block)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);

    return heap && block && mire__collect_as_may_hold(heap, block);
}

/* The node of the stack from a call on; inside the slot. */
static inline uint32_t mire__collect_as_node(struct collect_thread *self, struct heap *heap,
                                             const struct self_frame *site)
{
    return mire__heap_as_mode(heap) == MIRE_HEAP_EXACT
               ? mire__call_stack_as_node(&self->stack, heap, mire__collect_steps, site)
               : mire__call_stack_as_walk_once(&self->stack, heap, mire__collect_steps, site);
}

/* Wake whoever rests (mire__collect_rest). */
void mire__collect_as_wake(struct heap *heap);

/* The tables, if something is to be noted now: then mire__collect_as_close must follow. NULL: nothing, and no close. */
static inline struct heap *mire__collect_as_open(struct collect_thread *self)
{
    struct heap *heap;

    if (__builtin_expect(!mire__slot_as_enter(self->slot), 0))
        return NULL;
    heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    if (__builtin_expect(!heap, 0))
        mire__slot_as_leave(self->slot);
    else if (__builtin_expect(mire__heap_how(heap, MIRE_HOW_RESTS), 0))
        mire__collect_as_wake(heap);
    return heap;
}
static inline void mire__collect_as_close(struct collect_thread *self)
{
    mire__slot_as_leave(self->slot);
}

#endif
