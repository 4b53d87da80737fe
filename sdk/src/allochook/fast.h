/*
 * fast.h - the fast path of exact mode: an allocation whose stack is expected and whose block has a shadow entry, and
 * the free of such a block. The slow path is in record.c.
 *
 *     enter --> the real call --> alloc: stack -> node, block -> shadow entry, counters
 *
 * A call costs some tens of nanoseconds, so every instruction counts. One word of flags, compared with the thread's
 * copy, covers the tables, the step cache and the thread: if they are equal nothing unusual is to be done. Otherwise
 * the fast path leaves the slot and jumps to the slow path with the arguments of the call alone. Nothing is kept across
 * that jump, so everything stays in registers.
 *
 * Thread: any.  Signal handler: where the real call may.
 */
#ifndef MIRE_ALLOCHOOK_FAST_H
#define MIRE_ALLOCHOOK_FAST_H

#include "allochook/record.h"

#include <string.h>

/* Inlined in every build: the function around it says where the call came from. */
#define MIRE_FAST static inline __attribute__((always_inline))

/* An allocation that is not recorded yet, and the registers after the call returns. All of it is passed in registers.
 */
#define MIRE_FAST_CALL struct collect_thread *self, void *block, size_t size, uint64_t pc, uint64_t sp, uint64_t fp

/*
 * The slow path of mire__fast_alloc. Each returns the block.
 *   slow         outside the slot: for any reason
 *   tell         outside the slot: counters by which the peaks are to be updated
 *   other_stack  inside, which it leaves: another stack than the expected one
 *   any_phase    inside: blocks are spread over all phases
 *   set_slow     inside: no shadow entry, or one in use
 */
void *mire__fast_as_slow(MIRE_FAST_CALL);
void *mire__fast_publish(struct heap_count *counts, void *block);
void *mire__fast_as_other_stack(MIRE_FAST_CALL);
void *mire__fast_as_any_phase(struct collect_thread *self, void *block, size_t size, uint32_t node);
void *mire__fast_as_set_slow(struct collect_thread *self, void *block, size_t size, uint32_t node);

/* Is a real call under way? The thread alone stores that word, so a plain read is enough. */
MIRE_FAST bool mire__fast_is_calling(const struct collect_thread *self)
{
    uint64_t sp;

    memcpy(&sp, (const void *)(uintptr_t)&self->calling_sp, sizeof(sp));
    return sp != 0;
}

/*
 * Begin a call of the program's, as mire__collect_as_enter does.
 *   sp  the caller's stack pointer
 * Returns NULL, and has done nothing, if the thread has no state or the call needs the slow path.
 */
MIRE_FAST struct collect_thread *mire__fast_enter(uint64_t sp)
{
    struct collect_thread *self = mire__locals_as_own()->collect;

    if (__builtin_expect(!self || !self->fast_path_flags, 0) || __builtin_expect(mire__fast_is_calling(self), 0))
        return NULL;
    atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* a handler on this thread sees the call before its block */
    return self;
}

/*
 * Enter the slot, if the fast path applies. mire__slot_as_leave must follow.
 * Returns false if it does not apply; the slot is left then.
 */
MIRE_FAST bool mire__fast_open(const struct collect_thread *self, struct heap_slot *slot, const struct heap *heap)
{
    if (__builtin_expect(!mire__slot_as_enter(slot), 0))
        return false;
    /* Read inside the slot: who changes the flags waits afterwards until all have left (heap/reclaim.c). */
    if (__builtin_expect(atomic_load_explicit(&heap->flags, memory_order_acquire) == self->fast_path_flags, 1))
        return true;
    mire__slot_as_leave(slot);
    return false;
}

/* Do all blocks lie in the first phase? false where the fast path does not apply. */
MIRE_FAST bool mire__fast_is_one_phase(const struct collect_thread *self)
{
    return (self->fast_path_flags & MIRE_FLAG_ONE_PHASE) != 0;
}

/*
 * The end of an allocation with a known stack: inside the slot, which it leaves.
 *   entry    the block's (mire__shadow_entry), found inside the slot as well
 *   aligned  mire__fast_is_one_phase holds: such an allocator's blocks are aligned
 * Returns the block.
 */
MIRE_FAST void *mire__fast_set(struct collect_thread *self, _Atomic uint32_t *entry, void *block, size_t size,
                               uint32_t node, bool aligned)
{
    struct heap_count *unpublished;

    if (__builtin_expect(!mire__shadow_as_set_entry(entry, (uintptr_t)block, size, node, aligned), 0))
        return mire__fast_as_set_slow(self, block, size, node);
    unpublished = mire__slot_raise(self->slot, size);
    mire__slot_as_leave(self->slot);
    return __builtin_expect(unpublished != NULL, 0) ? mire__fast_publish(unpublished, block) : block;
}

/* The frame pointer after the return of the function around this, which keeps a frame. */
#define MIRE_FAST_FP (*(const uint64_t *)__builtin_frame_address(0))

/*
 * Record a new block. Returns it.
 *   pc, sp  the registers after the call returns; the frame pointer is MIRE_FAST_FP
 */
MIRE_FAST void *mire__fast_alloc(struct collect_thread *self, void *block, size_t size, uint64_t pc, uint64_t sp)
{
    struct stack_cache *cache = &self->stack.cache;
    struct stack_entry *stack = cache->expected;
    _Atomic uint32_t *entry;

    if (__builtin_expect(!mire__fast_open(self, self->slot, self->heap), 0))
        return mire__fast_as_slow(self, block, size, pc, sp, MIRE_FAST_FP);
    if (__builtin_expect(stack->based || !mire__stack_is(stack, pc, sp, MIRE_FAST_FP), 0))
        return mire__fast_as_other_stack(self, block, size, pc, sp, MIRE_FAST_FP);
    mire__stack_cache_follow(cache, stack);
    if (__builtin_expect(!mire__fast_is_one_phase(self), 0))
        return mire__fast_as_any_phase(self, block, size, stack->node);
    if (__builtin_expect(!mire__shadow_entry(&entry, self->heap, (uintptr_t)block, 0), 0))
        return mire__fast_as_set_slow(self, block, size, stack->node);
    return mire__fast_set(self, entry, block, size, stack->node, true);
}

enum fast_end { FAST_NOT, FAST_DONE, FAST_UNPUBLISHED };

/*
 * Forget a block that is about to be freed, by a thread with a state. The call may lie within another hook's real call:
 * a block that is known here and freed by anybody has ended.
 *   was        size and stack of the block, if it was known
 *   counts     its counters
 *   one_phase  mire__fast_is_one_phase; false is right, too, and slower
 * Returns FAST_NOT if nothing is done, FAST_UNPUBLISHED if the peaks are to be updated by these counters.
 */
MIRE_FAST enum fast_end mire__fast_free(struct live_block *was, struct heap_count **counts,
                                        const struct collect_thread *self, const void *block, bool one_phase)
{
    const uint32_t phase = mire__shadow_phase((uintptr_t)block, one_phase || mire__fast_is_one_phase(self));
    struct heap_slot *slot = self->slot;
    const struct heap *heap = self->heap;
    enum fast_end end = FAST_NOT;

    if (__builtin_expect(!self->fast_path_flags, 0) || __builtin_expect(!mire__fast_open(self, slot, heap), 0))
        return FAST_NOT;
    if (__builtin_expect(mire__shadow_as_take(was, heap, (uintptr_t)block, phase), 1)) {
        *counts = mire__slot_drop(slot, was->size);
        end = *counts ? FAST_UNPUBLISHED : FAST_DONE;
    }
    mire__slot_as_leave(slot);
    return end;
}

#endif
