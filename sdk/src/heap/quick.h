/*
 * quick.h - what an allocation and a free do nearly always, as part of their hooks: exact mode, a stack that is
 * remembered, a small block with a page of cells. Whatever is otherwise is left to note.c.
 *
 * A call costs some tens of nanoseconds, so what it does is counted in instructions. Everything is inlined: into free,
 * and into one function that allocating hooks jump to. All that may be out of the ordinary, of the tables, of the code
 * and of the thread, stands in one word that is compared with one of the thread's. Whoever comes to something unusual
 * leaves the slot and begins anew elsewhere, with nothing but the call itself: so little has to be kept, and all of it
 * stays in registers.
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

/* The rest of mire__quick_alloc: whatever it is, or no page of cells; a stack that is not remembered; a cell in use. */
void mire__quick_as_else(MIRE_QUICK_CALL);
void mire__quick_as_walk(MIRE_QUICK_CALL);
void mire__quick_as_set(struct collect_thread *self, const void *block, size_t size, uint32_t node);

/*
 * Begin to work on the tables, in exact mode and if nothing else is out of the ordinary: inside the slot, which
 * mire__slot_as_end is to leave. NULL: not, and nothing is to be left.
 */
MIRE_QUICK struct heap *mire__quick_open(uint32_t *inside, const struct collect_thread *self, struct heap_slot *slot,
                                         const struct collect_gate *gate)
{
    struct heap *heap;

    if (__builtin_expect(!mire__slot_as_begin(inside, slot), 0))
        return NULL;
    heap = atomic_load_explicit(&gate->heap, memory_order_acquire);
    if (__builtin_expect(heap && atomic_load_explicit(&heap->how, memory_order_acquire) == self->usual, 1))
        return heap;
    mire__slot_as_end(*inside, slot);
    return NULL;
}

/* A block was allocated by the call whose frame is `site`. */
MIRE_QUICK void mire__quick_alloc(struct collect_thread *self, const struct walk_frame *site, const void *block,
                                  size_t size)
{
    const uint64_t address = (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK;
    struct heap_slot *slot = self->slot;
    uint32_t node, inside;
    struct heap *heap = mire__quick_open(&inside, self, slot, mire__collect_gate);
    _Atomic uint32_t *cell;

    if (__builtin_expect(heap && !mire__cells_plain(&cell, heap, address), 0)) {
        mire__slot_as_end(inside, slot);
        heap = NULL;
    }
    if (__builtin_expect(!heap, 0)) {
        mire__quick_as_else(self, block, size, site->pc, site->sp, site->fp);
        return;
    }
    __builtin_prefetch(cell, 1); /* it comes while the stack is looked at */
    node = mire__walk_as_tail(&self->walk, site);
    if (__builtin_expect(node == 0, 0)) {
        mire__slot_as_end(inside, slot);
        mire__quick_as_walk(self, block, size, site->pc, site->sp, site->fp);
    } else if (__builtin_expect(mire__cell_as_set(heap, cell, address, size, node), 1)) {
        mire__slot_as_count(heap, slot, size);
        mire__slot_as_end(inside, slot);
    } else {
        mire__slot_as_end(inside, slot);
        mire__quick_as_set(self, block, size, node);
    }
}

enum quick_end { QUICK_NOT, QUICK_DONE, QUICK_STRAYS };

/*
 * A block is to be freed. The gate was looked at (mire__site_passes): a forked child, whose gate is empty, must not
 * come here, for the slot is its parent's.
 *
 *   counts  its counters
 *
 * Returns QUICK_NOT if nothing is done; QUICK_STRAYS if the peaks are to be told of these counters.
 * In a call within another's real call too: what is known here and freed by whomever has ended.
 */
MIRE_QUICK enum quick_end mire__quick_free(struct heap_count **counts, const void *block)
{
    const struct collect_thread *self = mire__collect_self;
    const struct collect_gate *gate = mire__collect_gate;
    enum quick_end end = QUICK_NOT;
    struct heap_slot *slot;
    uint32_t inside;
    uint64_t size;
    struct heap *heap;

    if (__builtin_expect(!self || !self->usual, 0))
        return QUICK_NOT;
    slot = self->slot;
    if (__builtin_expect(!(heap = mire__quick_open(&inside, self, slot, gate)), 0))
        return QUICK_NOT;
    if (__builtin_expect(mire__cells_as_take(&size, heap, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK), 1)) {
        *counts = mire__slot_drop(slot, size);
        end = *counts ? QUICK_STRAYS : QUICK_DONE;
    }
    mire__slot_as_end(inside, slot);
    return end;
}

/* The rest of QUICK_STRAYS. */
void mire__quick_as_tell(struct heap_count *counts);

#endif
