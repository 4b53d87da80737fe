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
 * Record a new mapping, which replaces the mappings it overlaps. If an adjacent mapping below has the same kind and
 * stack, that mapping grows instead (a break that moves, a stack).
 *   start, bytes  multiples of a page, as the kernel rounds them; with 0 bytes nothing happens
 *   node          stack of the call, 0 if unknown
 * Returns false if the mapping was dropped.
 */
bool mire__mappings_as_map(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/* The same for a mapping that was found in the kernel's list, with an unknown stack. A mapping that is recorded
 * already does not change. */
bool mire__mappings_as_renew(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind);

/* Does the range hold addresses without memory (MIRE_KIND_RESERVED)? */
bool mire__mappings_as_is_reserved(struct heap *heap, uint64_t start, uint64_t bytes);

/*
 * Record memory at reserved addresses: the parts of [start, start + bytes) that are MIRE_KIND_RESERVED get this kind and
 * stack. Other parts do not change. Returns false if something was dropped.
 */
bool mire__mappings_as_commit(struct heap *heap, uint64_t start, uint64_t bytes, enum heap_kind kind, uint32_t node);

/*
 * Record a thread's stack, which the C library maps and unmaps without a hook. If the range contains a mapping of the
 * program, the program supplied the stack, and nothing changes.
 *
 *   node   the stack that made the thread
 *   owner  the thread, not 0
 */
bool mire__mappings_as_map_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t node, uint32_t owner);

/* The thread has ended: remove the parts of its stack that are still recorded for this owner. */
bool mire__mappings_as_end_stack(struct heap *heap, uint64_t start, uint64_t bytes, uint32_t owner);

/* A mapping found in a range. */
struct mapping_was {
    bool known; /* the others are valid */
    enum heap_kind kind;
    uint32_t node;
};

/*
 * [start, start + bytes) is unmapped; *was is the last mapping in the range. If the system call fails afterwards, the
 * caller undoes the change by recording the mapping again.
 */
bool mire__mappings_as_take(struct mapping_was *was, struct heap *heap, uint64_t start, uint64_t bytes);

/* The same, without *was. */
bool mire__mappings_as_unmap(struct heap *heap, uint64_t start, uint64_t bytes);

#endif
