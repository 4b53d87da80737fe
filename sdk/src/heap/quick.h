/*
 * quick.h - what an allocation and a free do nearly always, as part of their hooks: exact mode, a stack that is
 * remembered, a small block with a page of cells. Whatever is otherwise is left to note.c.
 *
 * A call costs some 20 ns in all, so what it does is counted in instructions: everything is inlined into the hook, for
 * one function saves and restores registers once; all that may be out of the ordinary stands in one word (heap.h,
 * `how`); and what is seldom needed is called, never inlined, so that it costs no register here.
 *
 * Thread: any.  Signal handler: where the real call may.
 */
#ifndef MIRE_HEAP_QUICK_H
#define MIRE_HEAP_QUICK_H

#include "heap/collect.h"

/* A site by value, field by field: so its address is nowhere taken, and it lies in registers until then. */
#define MIRE_SITE_COPY(site) ((struct walk_frame){.pc = (site)->pc, .sp = (site)->sp, .fp = (site)->fp})

/* The rest of mire__quick_alloc, inside the slot: the stack is walked. */
void mire__quick_as_walk(struct collect_thread *self, struct heap *heap, struct walk_frame site, const void *block,
                         size_t size);

/* The tables, in exact mode and if nothing else is out of the ordinary; NULL. Inside the slot. */
MIRE_INLINE struct heap *mire__quick_heap(void)
{
    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);

    return __builtin_expect(heap != NULL, 1) &&
                   __builtin_expect(mire__heap_how(heap, ~MIRE_HOW_CELLS) == MIRE_HEAP_EXACT, 1)
               ? heap
               : NULL;
}

/* A block was allocated. False: nothing is done, for mire__collect_as_alloc to do. */
MIRE_INLINE bool mire__quick_alloc(struct collect_thread *self, const struct walk_frame *site, const void *block,
                                   size_t size)
{
    struct heap_slot *slot = self->slot;
    uint64_t address = (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK;
    uint32_t node, inside;
    struct heap *heap;
    bool usual;

    if (__builtin_expect(!mire__slot_as_begin(&inside, slot), 0))
        return false;
    heap = mire__quick_heap();
    usual = heap && self->scope == 0;
    if (__builtin_expect(usual, 1)) {
        node = mire__walk_as_known(&self->walk, mire__collect_code, site);
        if (__builtin_expect(node == 0, 0))
            mire__quick_as_walk(self, heap, MIRE_SITE_COPY(site), block, size);
        else if (__builtin_expect(mire__cells_as_set(heap, address, size, node), 1))
            mire__slot_as_count(heap, slot, size);
        else
            mire__live_as_set_else(heap, slot, address, size, node);
    }
    mire__slot_as_end(inside, slot);
    return usual;
}

/* A block is to be freed. False: nothing is done, for mire__collect_as_free to do. */
MIRE_INLINE bool mire__quick_free(struct collect_thread *self, const void *block)
{
    struct heap_slot *slot = self->slot;
    uint64_t address = (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK, size;
    struct heap *heap;
    uint32_t inside;
    bool done;

    if (__builtin_expect(!mire__slot_as_begin(&inside, slot), 0))
        return false;
    heap = mire__quick_heap();
    done = __builtin_expect(heap != NULL, 1) && mire__cells_as_take(&size, heap, address);
    if (__builtin_expect(done, 1))
        mire__slot_as_uncount(heap, slot, size);
    mire__slot_as_end(inside, slot);
    return done;
}

#endif
