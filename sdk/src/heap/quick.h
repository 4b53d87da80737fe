/*
 * quick.h - what an allocation and a free do nearly always in exact mode: a stack that is remembered, a small block
 * with a page of cells. Whatever is otherwise is left to note.c.
 *
 *     enter --> node of the stack --> the real call --> alloc: block -> cell, counters
 *
 * A call costs some tens of nanoseconds, so what it does is counted in instructions. The stack is looked at before the
 * real call, so that less is to be kept, and that the processor goes on to that call while it waits for what the stack
 * is compared with. All that may be out of the ordinary, of the tables, of the code and of the thread, stands in one
 * word that is compared with one of the thread's. Whoever comes to something unusual leaves the slot and begins anew
 * elsewhere, with nothing but the call itself.
 *
 * Thread: any.  Signal handler: where the real call may.
 */
#ifndef MIRE_HEAP_QUICK_H
#define MIRE_HEAP_QUICK_H

#include "heap/collect.h"

/* Also where other calls are not: what it is inlined into says where it was called from. */
#define MIRE_QUICK static inline __attribute__((always_inline))

/* An allocation that was not noted yet. By its parts, which are passed in registers. */
#define MIRE_QUICK_CALL \
    struct collect_thread *self, const void *block, size_t size, uint64_t pc, uint64_t sp, uint64_t fp

/* What is otherwise: whatever it is; a stack that is not remembered. */
void mire__quick_as_else(MIRE_QUICK_CALL);
void mire__quick_as_walk(MIRE_QUICK_CALL);

/* No cell, or one in use; the peaks are to be told. Both return true: who calls them last jumps to them. */
bool mire__quick_as_set(struct collect_thread *self, uint64_t address, size_t size, uint32_t node);
bool mire__quick_as_tell(struct heap_count *counts);

/*
 * Begin a call of the program's, as mire__collect_as_enter does.
 *   sp  the caller's stack pointer
 * Returns NULL, and nothing is done, if the thread has no state, or something is out of the ordinary.
 */
MIRE_QUICK struct collect_thread *mire__quick_enter(uint64_t sp)
{
    struct collect_thread *self = mire__collect_self;

    if (__builtin_expect(!self || !self->usual, 0) ||
        __builtin_expect(atomic_load_explicit(&self->calling_sp, memory_order_relaxed) != 0, 0))
        return NULL;
    atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

/*
 * Begin to work on the tables, in exact mode and if nothing else is out of the ordinary: inside the slot, which
 * mire__slot_as_end is to leave. False: not, and nothing is to be left.
 */
MIRE_QUICK bool mire__quick_open(struct heap **heap, uint32_t *inside, const struct collect_thread *self,
                                 struct heap_slot *slot)
{
    if (__builtin_expect(!mire__slot_as_begin(inside, slot), 0))
        return false;
    *heap = self->heap;
    if (__builtin_expect(atomic_load_explicit(&(*heap)->how, memory_order_acquire) == self->usual, 1))
        return true;
    mire__slot_as_end(*inside, slot);
    return false;
}

/*
 * A block was allocated.
 *   node  its stack's
 * False: something is out of the ordinary, nothing was noted.
 */
MIRE_QUICK bool mire__quick_alloc(struct collect_thread *self, const void *block, size_t size, uint32_t node)
{
    uint64_t address = (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK;
    struct heap_slot *slot = self->slot;
    struct heap_count *strays;
    _Atomic uint32_t *cell;
    struct heap *heap;
    uint32_t inside;

    if (__builtin_expect(!mire__quick_open(&heap, &inside, self, slot), 0))
        return false;
    if (__builtin_expect(!mire__cells_plain(&cell, heap, address), 0) ||
        __builtin_expect(!mire__cell_as_set(cell, address, size, node, (self->usual & MIRE_HOW_APART) != 0), 0)) {
        mire__slot_as_end(inside, slot);
        return mire__quick_as_set(self, address, size, node);
    }
    strays = mire__slot_raise(slot, size);
    mire__slot_as_end(inside, slot);
    return __builtin_expect(strays != NULL, 0) ? mire__quick_as_tell(strays) : true;
}

enum quick_end { QUICK_NOT, QUICK_DONE, QUICK_STRAYS };

/*
 * A block is to be freed, by a thread that has a state.
 *   was     size and stack, if it was taken
 *   counts  its counters
 * Returns QUICK_NOT if nothing is done; QUICK_STRAYS if the peaks are to be told of these counters.
 * In a call within another's real call too: what is known here and freed by whomever has ended.
 */
MIRE_QUICK enum quick_end mire__quick_free(struct live_block *was, struct heap_count **counts,
                                           const struct collect_thread *self, const void *block)
{
    enum quick_end end = QUICK_NOT;
    struct heap_slot *slot;
    uint32_t inside;
    struct heap *heap;

    if (__builtin_expect(!self->usual, 0))
        return QUICK_NOT;
    slot = self->slot;
    if (__builtin_expect(!mire__quick_open(&heap, &inside, self, slot), 0))
        return QUICK_NOT;
    if (__builtin_expect(mire__cells_as_take(was, heap, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK), 1)) {
        *counts = mire__slot_drop(slot, was->size);
        end = *counts ? QUICK_STRAYS : QUICK_DONE;
    }
    mire__slot_as_end(inside, slot);
    return end;
}

#endif
