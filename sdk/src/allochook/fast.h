/*
 * fast.h - what an allocation and a free do nearly always in exact mode: a stack that is remembered, a small block
 * with a page of cells. Whatever is otherwise is left to record.c.
 *
 *     enter --> the real call --> alloc: stack -> node, block -> cell, counters
 *
 * A call costs some tens of nanoseconds, so what it does is counted in instructions. All that may be out of the
 * ordinary, of the tables, of the code and of the thread, stands in one word that is compared with one of the thread's.
 * Whoever comes to something unusual leaves the slot and jumps elsewhere, with nothing but the call itself: so nothing
 * has to be kept, and all of it stays in registers.
 *
 * Thread: any.  Signal handler: where the real call may.
 */
#ifndef MIRE_ALLOCHOOK_FAST_H
#define MIRE_ALLOCHOOK_FAST_H

#include "allochook/allochook.h"

#include <string.h>

/* Also where other calls are not: what it is inlined into says where it was called from. */
#define MIRE_QUICK static inline __attribute__((always_inline))

/* An allocation that was not noted yet, and what holds when the call returns. All of it is passed in registers. */
#define MIRE_QUICK_CALL struct collect_thread *self, void *block, size_t size, uint64_t pc, uint64_t sp, uint64_t fp

/*
 * The rest of mire__quick_alloc, outside the slot: whatever it is; counters that the peaks are to be told of. And
 * inside, which they leave: another stack than was expected; blocks that are spread over all planes; no cell, or one in
 * use. All return the block.
 */
void *mire__quick_as_else(MIRE_QUICK_CALL);
void *mire__quick_as_tell(struct heap_count *counts, void *block);
void *mire__quick_as_look(MIRE_QUICK_CALL);
void *mire__quick_as_spread(struct collect_thread *self, void *block, size_t size, uint32_t node);
void *mire__quick_as_set(struct collect_thread *self, void *block, size_t size, uint32_t node);

/* Is a real call under way? The thread alone stores that, so it may read it as it lies. */
MIRE_QUICK bool mire__quick_is_calling(const struct collect_thread *self)
{
    uint64_t sp;

    memcpy(&sp, (const void *)(uintptr_t)&self->calling_sp, sizeof(sp));
    return sp != 0;
}

/*
 * Begin a call of the program's, as mire__collect_as_enter does.
 *   sp  the caller's stack pointer
 * Returns NULL, and nothing is done, if the thread has no state, or something is out of the ordinary.
 */
MIRE_QUICK struct collect_thread *mire__quick_enter(uint64_t sp)
{
    struct collect_thread *self = mire__collect_self;

    if (__builtin_expect(!self || !self->usual, 0) || __builtin_expect(mire__quick_is_calling(self), 0))
        return NULL;
    atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

/*
 * Begin to work on the tables, in exact mode and if nothing else is out of the ordinary: inside the slot, which
 * mire__slot_as_leave is to end. False: not, and nothing is to be ended.
 */
MIRE_QUICK bool mire__quick_open(const struct collect_thread *self, struct heap_slot *slot, const struct heap *heap)
{
    if (__builtin_expect(!mire__slot_as_enter(slot), 0))
        return false;
    if (__builtin_expect(atomic_load_explicit(&heap->how, memory_order_acquire) == self->usual, 1))
        return true;
    mire__slot_as_leave(slot);
    return false;
}

/* Are all blocks in the first plane of cells? While something is out of the ordinary that is not known: false. */
MIRE_QUICK bool mire__quick_is_apart(const struct collect_thread *self)
{
    return (self->usual & MIRE_HOW_APART) != 0;
}

/*
 * The end of an allocation whose stack is known: inside the slot, which it leaves.
 *   cell   the block's (mire__cells_plain), looked for inside as well
 *   apart  mire__quick_is_apart holds: such an allocator's blocks are aligned
 * Returns the block.
 */
MIRE_QUICK void *mire__quick_set(struct collect_thread *self, _Atomic uint32_t *cell, void *block, size_t size,
                                 uint32_t node, bool apart)
{
    struct heap_count *strays;

    if (__builtin_expect(!mire__cell_as_set(cell, (uintptr_t)block, size, node, apart), 0))
        return mire__quick_as_set(self, block, size, node);
    strays = mire__slot_raise(self->slot, size);
    mire__slot_as_leave(self->slot);
    return __builtin_expect(strays != NULL, 0) ? mire__quick_as_tell(strays, block) : block;
}

/* The frame pointer that holds when the function returns which this is part of: it keeps a frame. */
#define MIRE_QUICK_FP (*(const uint64_t *)__builtin_frame_address(0))

/*
 * A block was allocated. Returns it.
 *   pc, sp  what holds when the call returns; the frame pointer is MIRE_QUICK_FP
 */
MIRE_QUICK void *mire__quick_alloc(struct collect_thread *self, void *block, size_t size, uint64_t pc, uint64_t sp)
{
    struct stack_cache *cache = &self->stack.cache;
    struct stack_entry *entry = cache->expected;
    _Atomic uint32_t *cell;

    if (__builtin_expect(!mire__quick_open(self, self->slot, self->heap), 0))
        return mire__quick_as_else(self, block, size, pc, sp, MIRE_QUICK_FP);
    if (__builtin_expect(entry->based || !mire__stack_is(entry, pc, sp, MIRE_QUICK_FP), 0))
        return mire__quick_as_look(self, block, size, pc, sp, MIRE_QUICK_FP);
    mire__stack_cache_follow(cache, entry);
    if (__builtin_expect(!mire__quick_is_apart(self), 0))
        return mire__quick_as_spread(self, block, size, entry->node);
    if (__builtin_expect(!mire__cells_plain(&cell, self->heap, (uintptr_t)block, 0), 0))
        return mire__quick_as_set(self, block, size, entry->node);
    return mire__quick_set(self, cell, block, size, entry->node, true);
}

enum quick_end { QUICK_NOT, QUICK_DONE, QUICK_STRAYS };

/*
 * A block is to be freed, by a thread that has a state.
 *   was     size and stack, if it was taken
 *   counts  its counters
 *   apart   mire__quick_is_apart; false does where it holds as well, a little later
 * Returns QUICK_NOT if nothing is done; QUICK_STRAYS if the peaks are to be told of these counters.
 * In a call within another's real call too: what is known here and freed by whomever has ended.
 */
MIRE_QUICK enum quick_end mire__quick_free(struct live_block *was, struct heap_count **counts,
                                           const struct collect_thread *self, const void *block, bool apart)
{
    const uint32_t plane = mire__cell_plane((uintptr_t)block, apart || mire__quick_is_apart(self));
    struct heap_slot *slot = self->slot;
    const struct heap *heap = self->heap;
    enum quick_end end = QUICK_NOT;

    if (__builtin_expect(!self->usual, 0) || __builtin_expect(!mire__quick_open(self, slot, heap), 0))
        return QUICK_NOT;
    if (__builtin_expect(mire__cells_as_take(was, heap, (uintptr_t)block, plane), 1)) {
        *counts = mire__slot_drop(slot, was->size);
        end = *counts ? QUICK_STRAYS : QUICK_DONE;
    }
    mire__slot_as_leave(slot);
    return end;
}

#endif
