/*
 * stacks.h - stacks as nodes of one tree, each node stored once; heapread/file.h has the form.
 *
 *     node 0 (root) -- main -- parse -- alloc_node -- malloc's caller        a node is the whole stack up to its frame
 *                        \---- layout -- ...
 *
 * A stack is found inwards from the root, or from a node that the thread knows to be right still. Addresses are
 * compared; hashes only say where to look. Finding takes no lock. Adding takes one, for as long as the missing frames
 * need.
 *
 * Addresses are those of call instructions (return address - 1), without pointer tags, below 2^48. A pc is an address
 * as seen in one module, and has a number. When a module is unloaded (modules.h), its pcs end: the same address is
 * another pc later, and other nodes.
 */
#ifndef MIRE_HEAP_STACKS_H
#define MIRE_HEAP_STACKS_H

#include "heap/index.h"

#define MIRE_NODE_ROOT 0u

static inline uint16_t mire__word_at(const struct heap *heap, uint32_t at)
{
    return atomic_load_explicit(&heap->words[at], memory_order_acquire);
}

static inline bool mire__node_pc_is(const struct heap *heap, uint32_t pc, uint64_t address)
{
    return pc < MIRE_HEAP_PCS_MAX && mire__pc_is(atomic_load_explicit(&heap->pcs[pc], memory_order_relaxed), address);
}

/* The child that follows its parent directly, 0 if that is another. */
static inline uint32_t mire__node_next(const struct heap *heap, uint32_t parent, uint64_t address)
{
    uint16_t word = mire__word_at(heap, parent + 1), second;

    if (mire__word_is_short(word))
        return word != 0 && mire__node_pc_is(heap, word, address) ? parent + 1 : 0;
    if (!mire__word_is_first(word))
        return 0;
    second = mire__word_at(heap, parent + 2);
    if (mire__word_ends_long(second) && mire__node_pc_is(heap, mire__words_value(word, second), address))
        return parent + 2;
    return 0;
}

/* The hash of a child. And: is this node, the first of a run, that child? */
static inline uint64_t mire__node_hash(uint32_t parent, uint64_t address)
{
    return mire__index_mix(address ^ (uint64_t)parent * ((UINT64_C(1) << 40) + 1));
}
bool mire__node_as_is(const struct heap *heap, uint32_t node, uint32_t parent, uint64_t address);

/* The same, faster for a node of one word, as nearly all are: the word and the jump before it are compared. */
static inline bool mire__node_is(const struct heap *heap, uint32_t node, uint32_t parent, uint64_t address)
{
    uint16_t word = mire__word_at(heap, node);

    if (__builtin_expect(!mire__word_is_short(word), 0))
        return mire__node_as_is(heap, node, parent, address);
    return word != 0 && mire__node_pc_is(heap, word, address) &&
           mire__word_at(heap, node - 1) == mire__word_jump(parent) &&
           mire__word_at(heap, node - 2) == mire__word_first(parent);
}

/*
 * The child of `parent` for the frame at `address`; 0 if there is none yet, or it is being added right now.
 * Thread: any, inside its slot.
 */
static inline uint32_t mire__nodes_as_child(const struct heap *heap, uint32_t parent, uint64_t address)
{
    uint32_t child = mire__node_next(heap, parent, address), at, entry;
    _Atomic uint32_t *segment;
    uint64_t hash;

    if (child)
        return child;
    hash = mire__node_hash(parent, address);
    segment = mire__index_segment(&heap->node_index, hash);
    at = mire__index_begin(hash);
    for (uint32_t i = 0; i < MIRE_INDEX_ENTRIES; i++, at++) {
        entry = atomic_load_explicit(&segment[at % MIRE_INDEX_ENTRIES], memory_order_acquire);
        if (entry == 0)
            return 0;
        if (entry >> 23 == (hash & 0x1ff) && mire__node_is(heap, entry & MIRE_INDEX_NUMBER, parent, address))
            return entry & MIRE_INDEX_NUMBER;
    }
    return 0;
}

/*
 * The nodes of a stack's inner frames, added where they are missing.
 *
 *   nodes_out  borrowed, room for `count`; nodes_out[i] is the node of addresses[i]
 *   parent     the node below which they hang: that of the next frame further out
 *   addresses  innermost first; addresses[count - 1] is the child of `parent`
 *
 * Returns true. False: there was no room, or the lock was not to be had; the frames that have no node got the node of
 * the innermost one that has, and a drop was counted. Thread: any, inside its slot.
 */
bool mire__nodes_as_push(uint32_t *nodes_out, struct heap *heap, uint32_t parent, const uint64_t *addresses,
                         uint32_t count);

/* The class of a tagged block's node, 0 if it is none; and the node of its stack without the tag. */
uint32_t mire__node_as_class(const struct heap *heap, uint32_t node);
uint32_t mire__node_as_untagged(const struct heap *heap, uint32_t node);

#endif
