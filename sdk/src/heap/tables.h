/*
 * tables.h - the tables of one run: where the sections of the file lie, and the indexes beside the file that find
 * entries quickly. Opened once, written by every thread that allocates.
 */
#ifndef MIRE_HEAP_TABLES_H
#define MIRE_HEAP_TABLES_H

#include "base/base.h"
#include "heapread/read.h"

struct heap_options {
    uint64_t budget_bytes; /* file and memory without a file, MIRE_HEAP_BUDGET_MIN..MAX */
    enum heap_mode mode;
    uint64_t interval_bytes; /* mean bytes between two samples, >= 1; sampled mode only */
    uint32_t pid;
    uint64_t start_ticks, start_mono_ns, start_wall_ms;
    uint8_t run_id[16];
    char boot_id[40];
};

#define MIRE_HEAP_OPTIONS_INIT                                                                       \
    {                                                                                                \
        .budget_bytes = 20u << 20, .mode = MIRE_HEAP_SAMPLED, .interval_bytes = 512u << 10, .pid = 0 \
    }

/* A lock that is only ever tried, for a bounded time. */
struct heap_lock {
    _Atomic uint32_t taken;
};

/* A hash index beside the file; index.h. */
struct heap_index {
    _Atomic uint16_t *directories; /* one for each number of bits */
    _Atomic uint32_t *segments;
    struct heap_index_segment {
        uint8_t depth, count;
    } * about;
    _Atomic uint32_t depth; /* bits of the directory in use */
    uint32_t segment_count, segment_cap;
};

/* Numbers of pages that were given back and may be used again; under the lock of their table. */
struct heap_spare {
    uint32_t *numbers;
    uint32_t count, cap;
};

#define MIRE_HEAP_FILTER          65536u
#define MIRE_DIRECTORY_SPAN_LOG   28u /* address space one table of pages covers: 256 MiB */
#define MIRE_DIRECTORY_TABLES     (1u << (MIRE_HEAP_ADDRESS_BITS - MIRE_DIRECTORY_SPAN_LOG)) /* of each phase */
#define MIRE_DIRECTORY_TABLE_REFS (1u << (MIRE_DIRECTORY_SPAN_LOG - MIRE_SHADOW_PAGE_SPAN_LOG))
#define MIRE_DIRECTORY_TABLES_MAX 512u

/*
 * The page directory's entry for 32 KiB of address space and a phase. 0: no block that would need a shadow page has
 * come. Greater than 0 as a signed number: the address of its shadow page. Anything else takes the slow path:
 */
typedef _Atomic uint64_t shadow_ref;
#define MIRE_REF_CLOSING  (UINT64_C(3) << 62) /* with the address of a page: nothing is added to it any more */
#define MIRE_REF_COUNTING (UINT64_C(1) << 63) /* no page yet; the rest counts towards one: */
#define MIRE_REF_SPARSE   0x20000000u         /* it had a page, which was given back */
#define MIRE_REF_CAME     0x00010000u         /* one block of any size came here */
#define MIRE_REF_LIVE     0x0000ffffu         /* small blocks that live in the block table */

/*
 * The word that every hook reads first: the mode, and everything that keeps a call from the fast path. Readers of
 * the file find the mode in `header->mode`.
 */
#define MIRE_FLAG_MODE      3u
#define MIRE_FLAG_SHADOW    4u  /* the mode was exact at some time: blocks may be in the shadow */
#define MIRE_FLAG_MOVING    8u  /* the reclaimer moves shadow entries to the block table: clear them by exchange */
#define MIRE_FLAG_RESTS     16u /* the next call that is recorded wakes the worker (allochook/run.c) */
#define MIRE_FLAG_OPEN      32u /* the program's calls are recorded here (allochook/run.c) */
#define MIRE_FLAG_ONE_PHASE 64u /* no two blocks begin in one shadow entry: all are in the first phase (shadow.h) */
#define MIRE_FLAG_STEPS     (UINT64_C(1) << 32) /* the bits from here on count how often the step cache became void */

struct heap {
    /* The members that every call reads, in one cache line. */
    struct heap_header *header;
    _Atomic uint64_t flags;
    _Atomic(shadow_ref *) *shadow_directory; /* tables of the page directory */
    _Atomic uint32_t *shadow;
    _Atomic uint8_t *filter; /* blocks by KiB, counted; 255 sticks. A forked child's is empty */

    /* The sections. */
    struct heap_slot *slots;
    struct heap_peaks *peaks;
    struct heap_class *classes;
    struct heap_image *images;
    char *paths;
    struct heap_mapping *mappings;
    _Atomic uint64_t *pcs;
    _Atomic uint16_t *words;
    struct heap_segment *blocks;
    _Atomic uint64_t *keys;
    void *extra;
    _Atomic uint8_t *there;

    /* The page directory has a table for each 256 MiB that need one, with a reference for each 32 KiB; for each phase.
     */
    shadow_ref *directory_tables;
    _Atomic uint16_t *block_directory; /* the segment of blocks for a hash's top bits */
    struct heap_index node_index;      /* (parent, pc) -> node, for the first nodes of runs */
    struct heap_index pc_index;        /* pc -> its number */
    uint16_t *mapping_order;           /* mappings by start */
    uint32_t *mapping_owner;           /* by a mapping's number: the thread whose stack it is, 0 none's */
    struct heap_spare mapping_spare, shadow_spare, block_spare;
    uint8_t *shadow_looks; /* by the number of a shadow page: the result of the reclaimer's last look (reclaim.c) */
    uint32_t mapping_count, directory_tables_count;

    /* A thread holds one of them at a time, with these exceptions: `claim` beside any other, `split` beside a
     * segment's, and those of two segments that are joined or split. */
    struct heap_lock nodes_lock, mappings_lock, shadow_lock, split_lock, classes_lock, images_lock, mode_lock,
        claim_lock;

    _Atomic(void (*)(void)) on_mode; /* called after the mode has changed, on any thread; may be NULL */
    _Atomic uint32_t pressed;        /* 1: all but the reserve of the budget is used; the reclaimer has work */
    bool holds_pages;                /* empty pages are kept, cleared: the file system makes no holes of a page */
    _Atomic uint32_t generation;     /* grows when a module is unloaded: what a thread remembers of pcs is void */
    void *anonymous;                 /* all memory without a file but the filter */
    uint64_t anonymous_bytes;
    uint64_t budget_bytes;
};

/* Bytes that the file of a budget spans; most of them are a hole for ever. */
uint64_t mire__heap_file_bytes(uint64_t budget_bytes);

/*
 * Make tables in fresh memory.
 *
 *   heap    the caller's, anything; its memory without a file is owned by it until mire__heap_close
 *   memory  mire__heap_file_bytes(budget) zero bytes, mapped shared, page-aligned; stays until mire__heap_close
 *
 * Returns MIRE_OK
 *         MIRE_E_RANGE   a number of the options is outside its range
 *         MIRE_E_MEMORY  no address space
 *         MIRE_E_FULL    the memory's file cannot be grown by as much as is needed to begin
 * Thread: before any other call.  Signal handler: no.
 */
enum mire_err mire__heap_open(struct heap *heap, void *memory, const struct heap_options *options);

/* The run ends in an orderly way, which the file says from now on. Late threads may go on using the tables. */
void mire__heap_stop(struct heap *heap);

/*
 * After mire__heap_stop: give back the memory of mire__heap_open, but keep its addresses, which read as zeros. A thread
 * that found the tables earlier may still ask whether they hold a block (mire__filter_may_hold): so `heap` and the
 * file's memory must stay, too. No thread may be inside its slot, and no other call may follow.
 */
void mire__heap_retire(struct heap *heap);

/* Stop, and give back all memory of mire__heap_open; the file stays as it is. No other call may run or follow. */
void mire__heap_close(struct heap *heap);

/*
 * Switch the mode while the run goes on. Entries of the tables stay, each with its own weight.
 *   interval_bytes  >= 1; of no meaning in other modes than sampled
 * Returns MIRE_OK, MIRE_E_FULL (32 different intervals were used in this run), MIRE_E_STATE (busy, or the budget does
 * not allow exact mode any more). Thread: any.
 */
enum mire_err mire__heap_set_mode(struct heap *heap, enum heap_mode mode, uint64_t interval_bytes);

/* These bits of `how`; change them to `to`, at once; returns what they were. */
static inline uint32_t mire__heap_flags(const struct heap *heap, uint32_t bits)
{
    return (uint32_t)atomic_load_explicit(&heap->flags, memory_order_relaxed) & bits;
}
static inline uint32_t mire__heap_flags_change(struct heap *heap, uint32_t bits, uint32_t to)
{
    uint64_t was = atomic_load_explicit(&heap->flags, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(&heap->flags, &was, (was & ~(uint64_t)bits) | to,
                                                  memory_order_acq_rel, memory_order_relaxed)) {
    }
    return (uint32_t)was & bits;
}

/* Mode and interval in force. Any thread, at every allocation. */
static inline enum heap_mode mire__heap_as_mode(const struct heap *heap)
{
    return (enum heap_mode)mire__heap_flags(heap, MIRE_FLAG_MODE);
}

/* The index of the interval in force, to be given to mire__block_as_sample. */
static inline uint32_t mire__heap_as_interval(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->interval, memory_order_relaxed) % MIRE_HEAP_INTERVALS_MAX;
}

/* Its mean bytes between two samples. */
static inline uint64_t mire__heap_as_interval_bytes(const struct heap *heap, uint32_t interval)
{
    return atomic_load_explicit(&heap->header->intervals[interval], memory_order_relaxed);
}

/* Was the mode never sampled in this run? */
static inline bool mire__heap_was_exact(const struct heap *heap)
{
    return atomic_load_explicit(&heap->header->interval_count, memory_order_acquire) == 1;
}

/*
 * Blocks so large are kept for certain in sampled mode (interval index 0, weight 1) and not drawn: sampling them would
 * save nothing.
 */
static inline uint64_t mire__heap_as_certain_bytes(const struct heap *heap, uint32_t interval)
{
    return 8 * mire__heap_as_interval_bytes(heap, interval);
}

/* Count something that is missing from the tables. */
static inline void mire__heap_as_drop(struct heap *heap, enum heap_drop drop)
{
    atomic_fetch_add_explicit(&heap->header->drops[drop], 1, memory_order_relaxed);
}

/* The builder's section, of which the first `bytes` are claimed; MIRE_HEAP_EXTRA_BYTES at most. NULL: no room. */
void *mire__heap_extra(struct heap *heap, uint64_t bytes);

#endif
