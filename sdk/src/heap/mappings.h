/*
 * mappings.h - mappings with their stacks and kinds, cut as munmap, mremap and mmap cut them; and addresses that are
 * reserved without memory.
 *
 *     map    [-------- A --------]
 *     unmap          [xxxx]
 *            [-- A --]    [- A -]      two mappings with one stack; they count as two
 *
 * Counters by kind are exact: count is the number of mappings, bytes their spans. Growing and shrinking changes bytes
 * alone. Calls are as rare as system calls; a lock is tried for a bounded time, then the call is dropped and counted.
 * Thread: any, inside its slot.
 */
#ifndef MIRE_HEAP_MAPPINGS_H
#define MIRE_HEAP_MAPPINGS_H

#include "heap/tables.h"
#include "heapread/read.h"

/*
 * A mapping was made; it replaces the mappings that it overlaps. A neighbour of the same kind and stack that ends where this one
 * begins grows instead (a break that moves, a stack).
 *   start, bytes  multiples of a page, as the kernel rounds them; with 0 bytes nothing happens
 *   node          its stack, 0 if unknown
 * Returns false if it was dropped.
 */
bool mire__mappings_as_map(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/* The same for a mapping with an unknown stack that was looked up. A mapping that is recorded so does not change. */
bool mire__mappings_as_renew(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind);

/* Does the range hold addresses without memory (MIRE_KIND_RESERVED)? */
bool mire__mappings_as_is_reserved(struct heap *heap, uint64_t start, uint64_t bytes);

/*
 * Memory was given to reserved addresses: the parts of [start, start + bytes) that are MIRE_KIND_RESERVED get this kind
 * and stack. Nothing else changes. Returns false if something was dropped.
 */
bool mire__mappings_as_commit(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/*
 * A thread's stack, which the C library maps and unmaps unseen. If a mapping of the program lies there already, the
 * program gave the thread its stack: nothing happens.
 *
 *   node   the stack that made the thread
 *   owner  the thread, not 0
 */
bool mire__mappings_as_map_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t node, uint32_t owner);

/* The thread has ended: remove the parts of its stack that are still recorded as its own. */
bool mire__mappings_as_end_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t owner);

/* A mapping found in a range. */
struct mapping_was {
    bool known; /* the others are valid */
    enum heap_kind kind;
    uint32_t node;
};

/*
 * [start, start + bytes) is unmapped; *was is the last mapping in it. A call that fails afterwards is taken back by
 * mapping it again.
 */
bool mire__mappings_as_take(struct mapping_was *was, struct heap *heap, uint64_t start, uint64_t bytes);

/* The same, without *was. */
bool mire__mappings_as_unmap(struct heap *heap, uint64_t start, uint64_t bytes);

#endif
