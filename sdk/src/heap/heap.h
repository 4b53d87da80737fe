/*
 * heap.h - a run's memory tables as the process that writes them holds them: where the sections lie, and what is kept
 * beside the file to find entries quickly.
 *
 *     collector --> counters.h    counters of the thread, "I am inside"
 *               --> stacks.h    stack -> node
 *               --> blocks.h     address -> size, node; what was there
 *               --> mappings.h, modules.h, classes.h
 *     keeper    --> reclaim.h     gives pages back, raises the sampling interval when the budget is used up
 *     builder   --> heapread/read.h     over the same bytes, in this process or another
 *
 * Nothing here waits: a lock is tried for a bounded time, then the entry is dropped and counted. Nothing uses the heap.
 * What is called `_as_` may run in a signal handler, on any thread, also one that ends. A forked child must not touch
 * its parent's tables: it opens its own, or none.
 */
#ifndef MIRE_HEAP_HEAP_H
#define MIRE_HEAP_HEAP_H

#include "base/base.h"
#include "heapread/file.h"

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

/* A hash index in memory without a file; index.h. */
struct heap_index {
    _Atomic uint16_t *directories; /* one for each number of bits */
    _Atomic uint32_t *segments;
    struct heap_index_segment {
        uint8_t depth, count;
    } * about;
    _Atomic uint32_t depth; /* bits of the directory in use */
    uint32_t segment_count, segment_cap;
};

/* Numbers of pages that were given back and may be taken again; under the lock of what they are pages of. */
struct heap_spare {
    uint32_t *numbers;
    uint32_t count, cap;
};

#define MIRE_HEAP_FILTER    65536u
#define MIRE_HEAP_ROOT_LOG  28u /* address space one table of pages covers: 256 MiB */
#define MIRE_HEAP_ROOTS     (1u << (MIRE_HEAP_ADDRESS_BITS - MIRE_HEAP_ROOT_LOG)) /* of each plane */
#define MIRE_HEAP_ROOT_SIZE (1u << (MIRE_HEAP_ROOT_LOG - MIRE_CELLS_SPAN_LOG))
#define MIRE_HEAP_ROOT_CAP  512u

/*
 * What the roots say of an address. 0: it has needed no page of cells so far. As a signed number greater than 0: the
 * address of its page, for whatever is to be done there. Else it is looked at more closely:
 */
typedef _Atomic uint64_t heap_root;
#define MIRE_ROOT_CLOSING  (UINT64_C(3) << 62) /* with the address of a page: nothing is added to it any more */
#define MIRE_ROOT_COUNTING (UINT64_C(1) << 63) /* no page yet; with it, how near it is to be worth one: */
#define MIRE_ROOT_SPARSE   0x20000000u         /* it had a page and was not worth it */
#define MIRE_ROOT_CAME     0x00010000u         /* one block of any size came here; the other bits count small ones */
#define MIRE_ROOT_LIVE     0x0000ffffu         /* that live in the other table */

/*
 * What the whole of a hook looks at, in one word: the mode, and what makes a call of the program's more than the usual.
 * `header->mode` is the mode for whoever reads the file.
 */
#define MIRE_HOW_MODE   3u
#define MIRE_HOW_CELLS  4u  /* the mode was exact: blocks may be in cells */
#define MIRE_HOW_MOVING 8u  /* the keeper moves cells to blocks; whoever clears a cell exchanges */
#define MIRE_HOW_RESTS  16u /* somebody waits to be woken by the next thing that is noted (allochook/allochook.h) */
#define MIRE_HOW_OPEN   32u /* the program's calls are noted here (allochook/allochook.h) */
#define MIRE_HOW_APART  64u /* no two blocks begin in one cell: all are in the first plane (shadow.h) */
#define MIRE_HOW_CODE   (UINT64_C(1) << 32) /* above all these: counts how often what was known of the code was void */

struct heap {
    /* What every call looks at, in one line of the cache. */
    struct heap_header *header;
    _Atomic uint64_t how;
    _Atomic(heap_root *) *roots; /* see below */
    _Atomic uint32_t *cells;
    _Atomic uint8_t *filter; /* blocks by KiB, counted; 255 sticks. A forked child's is empty */

    /* The sections. */
    struct heap_slot *slots;
    struct heap_peaks *peaks;
    struct heap_class *classes;
    struct heap_image *images;
    char *paths;
    struct heap_region *regions;
    _Atomic uint64_t *places;
    _Atomic uint16_t *words;
    struct heap_segment *blocks;
    _Atomic uint64_t *keys;
    void *extra;
    _Atomic uint8_t *there;

    /* `roots`: where the page of cells for an address is: by 256 MiB, then by 32 KiB. The same for each plane. */
    heap_root *root_tables;
    _Atomic uint16_t *directory;   /* the segment of blocks for a hash's top bits */
    struct heap_index node_index;  /* (parent, address) -> node, for the first nodes of runs */
    struct heap_index place_index; /* address -> place */
    uint16_t *region_order;        /* regions by start */
    uint32_t *region_owner;        /* by a region's number: the thread whose stack it is, 0 none's */
    struct heap_spare region_spare, cell_spare, block_spare;
    uint8_t *cell_looks; /* by a page of cells' number: what the keeper's last look says of the next (reclaim.c) */
    uint32_t region_count, root_count;

    /* No two are held at once, but `claim` and one of the others, `split` and a segment's, and two segments' that are
     * joined or split. */
    struct heap_lock nodes_lock, regions_lock, cells_lock, split_lock, classes_lock, images_lock, mode_lock, claim_lock;

    _Atomic(void (*)(void)) on_mode; /* NULL, or to be called after the mode has changed; any thread */
    _Atomic uint32_t pressed;        /* 1: the budget is used up but for what heap.c keeps back; the keeper has work */
    bool holds_pages; /* those that empty are kept for later, cleared: the file has no holes of a page of ours */
    _Atomic uint32_t generation; /* grows when an image goes: what a thread remembers of addresses is void */
    void *anonymous;             /* all memory without a file but the filter */
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

/*
 * Collecting ends, not by a kill: says so in the file. Tables stay as they are and may be used; late threads do so.
 */
void mire__heap_stop(struct heap *heap);

/*
 * After mire__heap_stop: give back the memory that mire__heap_open took, but not its addresses, which read as zeros. A
 * thread that found the tables before may look only now whether they hold a block (mire__blocks_maybe); `heap` and the
 * file's memory are to stay for that as well. No thread may be inside its slot, no other call follow.
 */
void mire__heap_retire(struct heap *heap);

/* Stop, and give back all that mire__heap_open took; the file stays as it is. No other call may be under way or follow.
 */
void mire__heap_close(struct heap *heap);

/*
 * What is collected from now on: switched while it runs. What is in the tables stays, with its own weight.
 *   interval_bytes  >= 1; of no meaning in other modes than sampled
 * Returns MIRE_OK, MIRE_E_FULL (32 different intervals were used in this run), MIRE_E_STATE (busy, or the budget does
 * not allow exact mode any more). Thread: any.
 */
enum mire_err mire__heap_set_mode(struct heap *heap, enum heap_mode mode, uint64_t interval_bytes);

/* These bits of `how`; change them to `to`, at once; returns what they were. */
static inline uint32_t mire__heap_how(const struct heap *heap, uint32_t bits)
{
    return (uint32_t)atomic_load_explicit(&heap->how, memory_order_relaxed) & bits;
}
static inline uint32_t mire__heap_how_change(struct heap *heap, uint32_t bits, uint32_t to)
{
    uint64_t was = atomic_load_explicit(&heap->how, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(&heap->how, &was, (was & ~(uint64_t)bits) | to, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
    }
    return (uint32_t)was & bits;
}

/* Mode and interval in force. Any thread, at every allocation. */
static inline enum heap_mode mire__heap_as_mode(const struct heap *heap)
{
    return (enum heap_mode)mire__heap_how(heap, MIRE_HOW_MODE);
}

/* The index of the interval in force, to be given to mire__live_as_sample. */
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
