/*
 * mire/memory.h - the app's live memory, with the stack that allocated each block.
 *
 *     mire_options_set_memory(options, MIRE_MEMORY_SAMPLED, 0);    before mire_start
 *     ...
 *     mire_memory_tag(image, "UIImage");                           optional: name the class of a block
 *
 * The library intercepts malloc, operator new, mmap and related functions. It records each live block with its size,
 * category and stack in a mapped file, which survives the process. If the system kills the process for its memory, the
 * next start reports what it held. The category of a block is "Malloc <size class>", of a mapping its kind, and of a
 * tagged block its class.
 *
 * Two modes, which can be changed at run time:
 *   exact    every block is recorded; counts and bytes are exact
 *   sampled  on average one block per `interval_bytes` allocated bytes is recorded. Sums over many blocks are unbiased,
 *            for any sizes. Cheap enough for production
 *
 * Not recorded: allocators that are linked statically or called by other names (mallocx, mi_malloc), System V shared
 * memory (shmat), and system calls that the program makes directly.
 *
 * The functions below never block, never allocate from the heap and never end the app. A block that cannot be recorded
 * is counted as lost. Before mire_start, after mire_stop and in mode MIRE_MEMORY_OFF the functions have no effect.
 *
 * fork: blocks of a child process are not recorded until the child is watched itself (see mire.h).
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
 * Set the mode in which mire_start begins to record memory.
 *
 *   mode             default MIRE_MEMORY_OFF
 *   interval_bytes   of sampled mode: mean bytes between two samples, 4 KiB..64 MiB; 0: the default, 512 KiB
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_memory(mire_options *options, enum mire_memory_mode mode,
                                               uint32_t interval_bytes);

/*
 * Limit the size of the records, on disk and in memory together. At the limit, exact mode becomes sampled, and the
 * interval of sampled mode grows. Large and tagged blocks stay recorded. Reports say when this happened.
 *
 *   budget_bytes   2 MiB..64 MiB; default 20 MiB
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_memory_budget(mire_options *options, uint32_t budget_bytes);

/*
 * On Apple's systems: choose how the library sees allocations. No effect on other systems.
 *
 *   MIRE_MEMORY_ZONES   the functions of each registered malloc zone are replaced; public interfaces only. The default
 *   MIRE_MEMORY_LOGGER  libmalloc's variable malloc_logger, which is not public and is looked up at run time: for builds
 *                       that do not go to the App Store. It also sees zones whose functions cannot be replaced. A former
 *                       listener is still called
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
enum mire_memory_source { MIRE_MEMORY_ZONES = 0, MIRE_MEMORY_LOGGER = 1 };
MIRE_API enum mire_err mire_options_set_memory_source(mire_options *options, enum mire_memory_source source);

/*
 * Change the mode at run time. Recorded blocks stay recorded until they are freed. Blocks that were allocated without a
 * record are not added later. Arguments as mire_options_set_memory.
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STATE (not started), MIRE_E_STORE or MIRE_E_SYSTEM (no file for the records).
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_memory_set(enum mire_memory_mode mode, uint32_t interval_bytes);

/*
 * Request a report of the live memory: all categories, with the stacks of the largest. The call returns at once. The
 * library's worker makes the report while the app runs, in about 100 ms for a million blocks; mire_flush waits for it.
 * The library also makes such reports by itself: under memory pressure, above a footprint, at intervals from a healthy
 * process (mire_options_set_number), and after the process was killed for its memory.
 *
 *   name  the report's name on the dashboard, up to 63 bytes; longer names are cut. NULL: none
 *
 * Returns MIRE_OK, MIRE_E_STATE (not started, or memory is not recorded), MIRE_E_TIMEOUT (a report is being made).
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_memory_report(const char *name);

/*
 * Set a gauge: an amount of memory that the app measures and the library cannot see, such as a managed heap, graphics
 * memory or bitmaps. Memory reports have the last value as a separate category, also after the process was killed.
 * Other categories may contain the same bytes, so gauges are in no sum.
 *
 *   name   1 to 32 bytes, the same in every process; at most 16 gauges
 *   bytes  0 if only `count` is meant
 *   count  number of objects, threads or descriptors; 0 if unknown
 *
 * Returns MIRE_OK, MIRE_E_ARG (no name, or too long), MIRE_E_FULL (16 others), MIRE_E_TIMEOUT. A value set before
 * mire_start is kept for it. Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_memory_gauge(const char *name, uint64_t bytes, uint64_t count);

/*
 * Set a function that is called before each memory report of the running process, and calls mire_memory_gauge.
 *
 *   read     NULL, the default: none. The library's worker calls the function and waits for it; mire_stop waits, too
 *   context  must stay valid until mire_stop
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL).
 */
typedef void mire_gauges_fn(void *context);
MIRE_API enum mire_err mire_options_set_gauges(mire_options *options, mire_gauges_fn *read, void *context);

/*
 * Name the class of a live block. The block then counts under its class instead of its size. In sampled mode this has
 * an effect on sampled blocks only.
 *
 *   block        as returned by the allocator; NULL has no effect
 *   class_name   1..63 bytes, copied. At most 1,023 classes per run; further ones have no effect
 *
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_memory_tag(const void *block, const char *class_name);

/*
 * Name the class of all blocks that the calling thread allocates until mire_memory_scope_end. Scopes can be nested; the
 * innermost one counts.
 *
 *     int outer = mire_memory_scope_begin("Thumbnail");
 *     ... decode ...
 *     mire_memory_scope_end(outer);
 *
 * mire_memory_scope_begin returns the outer scope, for mire_memory_scope_end.  Thread: any.  Signal handler: no.
 */
MIRE_API int mire_memory_scope_begin(const char *class_name);
MIRE_API void mire_memory_scope_end(int outer);

/*
 * Record the blocks of an allocator of the app's own. The stack of a block begins at the caller of mire_alloc_hook.
 *
 *   mire_alloc_hook  the allocator hands out a block of `size` bytes. The block may lie in a pool, but in no other live
 *                    block. NULL has no effect
 *   mire_free_hook   the allocator takes a block back. Call it before the memory can be handed out again
 *   mire_alloc_pool  `memory`, from malloc or mmap, is a pool that holds such blocks. The pool itself then no longer
 *                    counts, so that no byte counts twice
 *
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_alloc_hook(const void *block, size_t size);
MIRE_API void mire_free_hook(const void *block);
MIRE_API void mire_alloc_pool(const void *memory);

#ifdef __cplusplus
}
#endif

#endif
