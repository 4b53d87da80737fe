/*
 * mire/memory.h - what keeps the app's memory: every live byte, with the stack that asked for it.
 *
 *     mire_options_set_memory(options, MIRE_MEMORY_SAMPLED, 0);    before mire_start
 *     ...
 *     mire_memory_tag(image, "UIImage");                           a block becomes an object of a class
 *
 * The library stands in front of malloc and its kin, operator new, mmap and its kin, and notes each block with its
 * size, category and stack in a mapped file that outlives the process. So the next start can tell what a process held
 * that was killed for want of memory. A block's category is `Malloc <size class>`, a mapping's what is mapped, an
 * object's its class, which the app tells. Not seen is what goes by none of these calls: an allocator that is linked
 * into the program statically, or called by names of its own (mallocx, mi_malloc); System V's shared memory (shmat);
 * and system calls of the program's own making.
 *
 * Two modes, which can be changed at any time. Exact: every block is known, and counts and bytes are exact. Sampled:
 * one block in every `interval` bytes on average is known, chosen so that sums over many blocks are unbiased whatever
 * their sizes; cheap enough to leave on.
 *
 * No call here waits for anything, allocates from the heap or ends the app; what cannot be noted is counted as
 * lost. Without mire_start, after mire_stop and in mode MIRE_MEMORY_OFF they do nothing.
 *
 * fork: the child's blocks are not noted until it is watched as a process of its own (see mire.h).
 */
#ifndef MIRE_MEMORY_H
#define MIRE_MEMORY_H

#include <mire/mire.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mire_memory_mode { MIRE_MEMORY_OFF = 0, MIRE_MEMORY_SAMPLED = 1, MIRE_MEMORY_EXACT = 2 };

/*
 * Whether mire_start begins to note memory, and how. Default: MIRE_MEMORY_OFF.
 *
 *   interval_bytes   mean bytes between samples, 4 KiB..64 MiB; 0 for 512 KiB, the default
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_memory(mire_options *options, enum mire_memory_mode mode,
                                               uint32_t interval_bytes);

/*
 * How much the notes may take, on disk and in memory together. Default 20 MB. When it is used up the interval grows,
 * and exact becomes sampled; what is large or tagged stays, and reports say what happened.
 *
 *   budget_bytes   2 MiB..64 MiB
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_memory_budget(mire_options *options, uint32_t budget_bytes);

/*
 * Change the mode while the app runs. Blocks that are known stay known until they are freed; those that were not noted
 * when they were allocated are not found later.
 *
 * Returns MIRE_OK, MIRE_E_RANGE (interval_bytes, mode), MIRE_E_STATE (not started), MIRE_E_STORE, MIRE_E_SYSTEM (the
 * tables cannot be made).
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_memory_set(enum mire_memory_mode mode, uint32_t interval_bytes);

/*
 * Report what is alive now: all categories, with the stacks of those that hold most. Returns at once; the library's
 * worker reads the tables, which takes some 100 ms for a million blocks, while the app goes on. mire_flush waits for
 * it. Reports are made without this call as well: when memory is short, beyond a footprint, now and then while all is
 * well (mire_options_set_number), and by the next start where the app was killed for want of memory.
 *
 *   name  what the app calls it; up to 63 bytes, longer ones are cut; NULL for nothing
 *
 * Returns MIRE_OK, MIRE_E_STATE (not started, or memory is not noted), MIRE_E_TIMEOUT (one is being made already).
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_memory_report(const char *name);

/*
 * Give a live block a class: from now on it is counted under it and no longer under its size. In sampled mode only
 * sampled blocks are known; others are left alone.
 *
 *   block        as the allocator returned it; NULL is fine
 *   class_name   1..63 bytes, copied; 1,023 classes are told apart in a run, blocks of others stay where they were
 *
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_memory_tag(const void *block, const char *class_name);

/*
 * Give all that the calling thread allocates a class, until mire_memory_scope_end. Scopes may stand inside each other;
 * the innermost counts.
 *
 *     int outer = mire_memory_scope_begin("Thumbnail");
 *     ... decode ...
 *     mire_memory_scope_end(outer);
 *
 * mire_memory_scope_begin returns what held before, for mire_memory_scope_end. Thread: any.  Signal handler: no.
 */
MIRE_API int mire_memory_scope_begin(const char *class_name);
MIRE_API void mire_memory_scope_end(int outer);

/*
 * For allocators of the app's own: tell of each block they hand out and take back. The stack of a block begins at the
 * function that calls mire_alloc_hook.
 *
 *   block   any address in no other live block but a pool; NULL is fine
 *   size    bytes
 *
 * mire_alloc_pool: this block of malloc's, or mapping, holds blocks that are told of one by one. It is no longer
 * counted itself, so that nothing is counted twice.
 *
 * mire_free_hook: call it before the memory can be handed out again.
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_alloc_hook(const void *block, size_t size);
MIRE_API void mire_free_hook(const void *block);
MIRE_API void mire_alloc_pool(const void *memory);

#ifdef __cplusplus
}
#endif

#endif
