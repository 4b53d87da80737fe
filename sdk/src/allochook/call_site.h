/*
 * call_site.h - where a hook was called from. Private to heap/'s hooks.
 */
#ifndef MIRE_ALLOCHOOK_CALL_SITE_H
#define MIRE_ALLOCHOOK_CALL_SITE_H

#include "allochook/allochook.h"
#include "allochook/hooks.h"

/*
 * In a function that a hook jumps to, and that keeps a frame pointer (built so, sdk/CMakeLists.txt): what holds when it
 * returns.
 */
#define MIRE_CALL_SITE                                                                        \
    {                                                                                         \
        .pc = (uintptr_t)__builtin_return_address(0), .sp = (uintptr_t)__builtin_dwarf_cfa(), \
        .fp = *(const uintptr_t *)__builtin_frame_address(0)                                  \
    }

#define MIRE_CALL_SP ((uintptr_t)__builtin_dwarf_cfa())

#define MIRE_SLOW __attribute__((noinline, section("mire_hidden")))

/* A block is to be freed, by a call whose caller's stack pointer is `sp`. */
static inline void mire__site_end(const void *block, uint64_t sp)
{
    struct collect_thread *self = mire__collect_as_may_know(block) ? mire__collect_as_enter(sp) : NULL;

    if (!self)
        return;
    mire__collect_as_return(self);
    mire__collect_as_free(self, block);
}

/* Take so many bytes off what is left until a sample. False: there are not so many. */
static inline bool mire__site_counts(size_t size)
{
    uint64_t left;

    if (__builtin_sub_overflow((uint64_t)mire__collect_left, size, &left))
        return false;
    mire__collect_left = (int64_t)left;
    return true;
}

/* Is a call that allocates so many bytes done with the real call alone? If so, they are counted. */
static inline bool mire__site_is_quick(size_t size)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    uint32_t mode = heap ? mire__heap_how(heap, MIRE_HOW_MODE) : MIRE_HEAP_OFF;

    if (__builtin_expect(mode == MIRE_HEAP_SAMPLED, 1))
        return mire__site_counts(size);
    if (mode == MIRE_HEAP_EXACT)
        return false;
    mire__collect_as_undraw(mire__collect_self);
    return true;
}

/*
 * The same of a call that ends a block besides, by one look at the tables' state. True only while nothing is noted or
 * in sampled mode.
 *   old  NULL: none ends
 */
static inline bool mire__site_passes(const void *old, size_t size)
{
    const struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);

    if (__builtin_expect(!heap, 0)) {
        mire__collect_as_undraw(mire__collect_self);
        return true;
    }
    return !mire__collect_as_may_hold(heap, old) && mire__site_counts(size);
}

#endif
