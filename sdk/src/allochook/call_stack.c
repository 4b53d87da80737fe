/* call_stack.c - see call_stack.h. Signal-safe. */
#include "allochook/call_stack.h"

#include "heap/heap.h"

/* Add the nodes of the innermost `left` new frames below `parent`; as find_nodes. */
static __attribute__((noinline)) bool add_nodes(struct self_walk *walk, struct heap *heap, uint32_t parent,
                                                uint32_t left)
{
    bool all = true;

    while (left-- > 0) {
        struct self_fresh *fresh = &walk->fresh[left];

        if (all && !(fresh->step.flags & MIRE_STEP_HIDDEN))
            all = mire__nodes_as_push(&parent, heap, parent, &fresh->pc, 1);
        fresh->tag = parent;
    }
    return all;
}

/*
 * Tag the new frames with their nodes. A hidden frame has the node of the next frame further out.
 * Returns false if some have no node of their own: the tables are full.
 */
MIRE_INLINE bool find_nodes(struct self_walk *walk, struct heap *heap, const struct self_found *found)
{
    uint32_t parent = found->known >= 0 ? walk->tags[found->known] : MIRE_NODE_ROOT;

    for (uint32_t left = found->fresh_count; left > 0; left--) {
        struct self_fresh *fresh = &walk->fresh[left - 1];

        if (!(fresh->step.flags & MIRE_STEP_HIDDEN)) {
            uint32_t node = mire__nodes_as_child(heap, parent, fresh->pc);

            if (__builtin_expect(node == 0, 0))
                return add_nodes(walk, heap, parent, left);
            parent = node;
        }
        fresh->tag = parent;
    }
    return true;
}

/* cached: a stack that is remembered goes into the cache as well */
MIRE_INLINE uint32_t walk_to_node(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                  const struct self_frame *from, bool cached)
{
    const struct self_found found = mire__self_as_walk(&stack->walk, steps, from);
    const bool tagged = find_nodes(&stack->walk, heap, &found);

    if (found.own && mire__self_as_keep(&stack->walk, &found, tagged) && cached)
        mire__stack_cache_as_add(&stack->cache, &stack->walk);
    if (found.fresh_count > 0)
        return stack->walk.fresh[0].tag;
    return found.known >= 0 ? stack->walk.tags[found.known] : MIRE_NODE_ROOT;
}

void mire__call_stack_as_forget(struct call_stack *stack, uint32_t version)
{
    mire__self_as_forget(&stack->walk, version);
    mire__stack_cache_as_forget(&stack->cache);
}

static void forget_old_steps(struct call_stack *stack, const struct step_cache *steps)
{
    uint32_t version = atomic_load_explicit(&steps->version, memory_order_acquire);

    if (stack->walk.version != version)
        mire__call_stack_as_forget(stack, version);
}

uint32_t mire__call_stack_as_walk(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                  const struct self_frame *from)
{
    forget_old_steps(stack, steps);
    mire__stack_cache_as_count(&stack->cache);
    return walk_to_node(stack, heap, steps, from, true);
}

uint32_t mire__call_stack_as_walk_once(struct call_stack *stack, struct heap *heap, struct step_cache *steps,
                                       const struct self_frame *from)
{
    forget_old_steps(stack, steps);
    return walk_to_node(stack, heap, steps, from, false);
}
