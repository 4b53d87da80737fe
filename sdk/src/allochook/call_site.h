/*
 * call_site.h - the call site of a hook, and the test whether the hook needs more than the real call. For the hooks,
 * and for the app's own allocators (core/calls_memory.c).
 */
#ifndef MIRE_ALLOCHOOK_CALL_SITE_H
#define MIRE_ALLOCHOOK_CALL_SITE_H

#include "allochook/record.h"
#include "allochook/hooks.h"

/*
 * The registers after the enclosing function returns. A hook jumps to such a function, which keeps a frame pointer
 * (sdk/CMakeLists.txt); therefore these are the registers after the program's call.
 */
#define MIRE_CALL_SITE                                                                        \
    {                                                                                         \
        .pc = (uintptr_t)__builtin_return_address(0), .sp = (uintptr_t)__builtin_dwarf_cfa(), \
        .fp = *(const uintptr_t *)__builtin_frame_address(0)                                  \
    }

#define MIRE_CALL_SP ((uintptr_t)__builtin_dwarf_cfa())

#define MIRE_SLOW MIRE_HIDDEN __attribute__((noinline))

/* Forget a block that a call with this stack pointer is about to free. */
static inline void mire__site_end(const void *block, uint64_t sp)
{
    struct collect_thread *self = mire__collect_as_may_know(block) ? mire__collect_as_enter(sp) : NULL;

    if (!self)
        return;
    mire__collect_as_return(self);
    mire__collect_as_free(self, block);
}

/* Take this number of bytes from the sampling budget. Returns false, and takes nothing, if the budget is smaller. */
static inline bool mire__site_spend(size_t size)
{
    struct locals *own = mire__locals_as_own();
    uint64_t left;

    if (__builtin_sub_overflow((uint64_t)own->collect_left, size, &left))
        return false;
    own->collect_left = (int64_t)left;
    return true;
}

/* Is the real call enough for an allocation of this size? If so, the bytes are taken from the budget. */
static inline bool mire__site_is_covered(size_t size)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    uint32_t mode = heap ? mire__heap_flags(heap, MIRE_FLAG_MODE) : MIRE_HEAP_OFF;

    if (__builtin_expect(mode == MIRE_HEAP_SAMPLED, 1))
        return mire__site_spend(size);
    if (mode == MIRE_HEAP_EXACT)
        return false;
    mire__collect_as_undraw(mire__locals_as_own()->collect);
    return true;
}

/*
 * The same for a call that also ends a block. Never true in exact mode.
 *   old  the block; may be NULL
 */
static inline bool mire__site_passes(const void *old, size_t size)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);

    if (__builtin_expect(!heap, 0)) {
        mire__collect_as_undraw(mire__locals_as_own()->collect);
        return true;
    }
    return !mire__collect_as_may_hold(heap, old) && mire__site_spend(size);
}

#endif
