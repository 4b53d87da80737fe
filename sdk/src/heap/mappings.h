/*
 * mappings.h - mappings with their stacks and kinds, cut as munmap, mremap and mmap over them cut them; and addresses
 * reserved without memory.
 *
 *     map    [-------- A --------]
 *     unmap          [xxxx]
 *            [-- A --]    [- A -]      two regions with one stack; they count as two
 *
 * Counters by kind are exact: count is the regions, bytes their spans. Growing and shrinking are bytes without a count.
 * Calls are as rare as system calls; a lock is tried for a bounded time, then the call is dropped and counted.
 * Thread: any, inside its slot.
 */
#ifndef MIRE_HEAP_MAPPINGS_H
#define MIRE_HEAP_MAPPINGS_H

#include "heap/heap.h"
#include "heapread/categories.h"

/*
 * A mapping was made; it replaces what it overlaps. A neighbour of the same kind and stack that ends where this one
 * begins grows instead (a break that moves, a stack). start, bytes  as the kernel rounds them: multiples of a page; of
 * no bytes: nothing happens node          its stack, 0 if unknown Returns false where it was dropped.
 */
bool mire__regions_as_map(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/* Are there addresses without memory (MIRE_KIND_RESERVED) within? */
bool mire__regions_as_is_reserved(struct heap *heap, uint64_t start, uint64_t bytes);

/*
 * Addresses without memory have been given some: what of [start, start + bytes) is MIRE_KIND_RESERVED is of that kind
 * and stack from now on. Nothing else changes. Returns false where something was dropped.
 */
bool mire__regions_as_commit(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/*
 * A thread's stack, which the C library maps and unmaps unseen. Where a mapping of the program's with a stack of its
 * own lies, the program gave the thread its stack: nothing happens.
 *
 *   node   where the thread was made
 *   owner  the thread, not 0
 */
bool mire__regions_as_map_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t node, uint32_t owner);

/* The thread has ended: of its stack that goes which is still noted as its own, and not what has come there since. */
bool mire__regions_as_end_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t owner);

/* What was mapped somewhere. */
struct region_was {
    bool known; /* the others are valid */
    enum heap_kind kind;
    uint32_t node;
};

/*
 * What of [start, start + bytes) was mapped no longer is; *was tells the last of it. So a call that may fail is taken
 * back by mapping it again.
 */
bool mire__regions_as_take(struct region_was *was, struct heap *heap, uint64_t start, uint64_t bytes);

/* The same, without a word about what it was. */
bool mire__regions_as_unmap(struct heap *heap, uint64_t start, uint64_t bytes);

#endif
