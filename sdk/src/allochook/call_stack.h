/*
 * call_stack.h - the stack of a call as a node of the tables: from the thread's cache of stacks, otherwise by a walk.
 *
 *     registers at the call --> stack_cache.h --> node
 *                                   '- not there: walk (unwind/self.h) --> new frames --> nodes (heap/stacks.h)
 *
 * Thread: the owner of the state, inside its slot. Signal-safe.
 */
#ifndef MIRE_ALLOCHOOK_CALL_STACK_H
#define MIRE_ALLOCHOOK_CALL_STACK_H

#include "allochook/stack_cache.h"
#include "heap/heap.h"

struct call_stack {
    struct stack_cache cache;
    struct self_walk walk;
};

/* Forget the last stack and all others. */
void mire__call_stack_as_forget(struct call_stack *stack, uint32_t version);

/*
 * The node of the stack from a call on, by a walk.
 *   from  the registers after the call returns; slot 0
 * Returns the node; the root, 0, if nothing is known. A stack that cannot be followed to its end is cut there.
 */
uint32_t mire__call_stack_as_walk(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                  const struct self_frame *from);

/* The same without the cache, where stacks are requested too rarely for a stack to repeat. */
uint32_t mire__call_stack_as_walk_once(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                       const struct self_frame *from);

/* The node from the cache; 0 if the stack is not there. */
MIRE_INLINE uint32_t mire__call_stack_as_cached(const struct call_stack *stack, const struct step_cache *steps,
                                                const struct self_frame *from)
{
    const struct stack_entry *entry = NULL;

    if (__builtin_expect(stack->walk.version == atomic_load_explicit(&steps->version, memory_order_acquire), 1))
        entry = mire__stack_cache_as_find(&stack->cache, from->pc, from->sp, from->fp);
    return entry ? mire__stack_cache_as_node(entry, &stack->walk) : 0;
}

/* The node from the cache, otherwise by a walk. */
static inline uint32_t mire__call_stack_as_node(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                                const struct self_frame *from)
{
    uint32_t node = mire__call_stack_as_cached(stack, steps, from);

    return node ? node : mire__call_stack_as_walk(stack, heap, steps, from);
}

#endif
