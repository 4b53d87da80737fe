/*
 * snapshot.h - an extra section of a run's heap file, with facts about the run and earlier snapshots of its memory.
 *
 *     [ magic | facts | trail | looked | residency 0 | residency 1 | active | snapshot 0 | snapshot 1 ]
 *
 * The snapshots, the largest part, exist once one was taken. The facts are written once, before the tables. The two
 * snapshots are written alternately, and `active` is stored last, so the file of a killed process has a complete one.
 * The same holds for residencies: how much of the mappings is in memory, which only the living process can find out.
 * The trail is a copy of the evidence's (exit/trail.h), which is deleted before this file; a kill may lose its newest
 * rows. Readers treat the content as untrusted.
 */
#ifndef MIRE_REPORT_SNAPSHOT_H
#define MIRE_REPORT_SNAPSHOT_H

#include "exit/evidence.h"
#include "heapread/read.h"
#include "report/tally.h"
#include "ring/blackbox.h"

#define MIRE_EXTRA_MAGIC         0x3378656d72696d00ull /* "\0mirmex3" */
#define MIRE_SNAPSHOT_CATEGORIES 1152u                 /* the maximum of a heap file */
#define MIRE_SNAPSHOT_PAIRS      1900u                 /* the pairs with most bytes */

/* A category (node 0), or a stack in it. */
struct snapshot_row {
    uint32_t category;
    uint32_t node;
    uint64_t count;
    uint64_t bytes;
};

/* Rows are sorted by category and node. */
struct memory_snapshot {
    uint64_t taken_ns; /* CLOCK_MONOTONIC; 0: no snapshot */
    uint32_t category_count;
    uint32_t pair_count;
    struct snapshot_row categories[MIRE_SNAPSHOT_CATEGORIES];
    struct snapshot_row pairs[MIRE_SNAPSHOT_PAIRS];
};

/* Mappings of each kind (heapread/categories.h), and the other parts of the footprint. */
struct residency {
    uint64_t taken_ns;                             /* CLOCK_MONOTONIC; 0: no look yet */
    uint64_t footprint_bytes;                      /* 0: unknown, and the next line too */
    uint64_t library_bytes, own_bytes, free_bytes; /* free: memory of allocators beyond the blocks */
    uint64_t block_bytes;                          /* requested sizes of live blocks */
    uint64_t used_bytes;                           /* size of the tables */
    struct residency_row {
        uint64_t mapped_bytes, resident_bytes;
    } kinds[MIRE_HEAP_KINDS];
};

struct memory_extra {
    uint64_t magic; /* stored after the facts */
    struct blackbox_facts facts;
    uint64_t footprint_peak_bytes;
    _Atomic uint32_t trail_rows;
    struct trail_row trail[MIRE_TRAIL_ROWS]; /* oldest first */
    _Atomic uint32_t looked;                 /* index of the valid residency */
    struct residency residencies[2];
    _Atomic uint32_t active;
    struct memory_snapshot snapshots[2];
};

/* The least size: without the rows of the snapshots. */
#define MIRE_EXTRA_FRONT_BYTES offsetof(struct memory_extra, snapshots[0].categories)

/*
 * Begin a run.
 *   extra  zeroed, in the heap file; MIRE_EXTRA_FRONT_BYTES are enough
 */
void mire__extra_begin(struct memory_extra *extra, const struct blackbox_facts *facts);

/*
 * The facts in a file; false if there are none. Its texts may lack their end, as in a blackbox.
 *   bytes  may be NULL
 */
bool mire__extra_facts(struct blackbox_facts *out, const void *bytes, size_t size);

/* Store the trail; and read it back: rows by time, at most MIRE_TRAIL_ROWS. */
void mire__extra_set_trail(struct memory_extra *extra, const struct trail_row *rows, uint32_t count,
                           uint64_t footprint_peak_bytes);
uint32_t mire__extra_trail(struct trail_row out[MIRE_TRAIL_ROWS], uint64_t *footprint_peak_bytes_out, const void *bytes,
                           size_t size);

/* The snapshot in a file, NULL if there is none. Borrows the bytes; its counts are within their bounds. */
const struct memory_snapshot *mire__extra_snapshot(const void *bytes, size_t size);

/*
 * Take a snapshot.
 *   sums   by category, `sum_count` of them; those without live blocks are left out
 *   tally  closed
 * Thread: one at a time.
 */
void mire__snapshot_take(struct memory_extra *extra, uint64_t taken_ns, const struct tally_pair *sums, size_t sum_count,
                         const struct tally *tally);

/* Store a residency, for which the front is enough; and the last one in a file, NULL if there is none. Thread: one at a
 * time. */
void mire__extra_set_residency(struct memory_extra *extra, const struct residency *looked);
const struct residency *mire__extra_residency(const void *bytes, size_t size);

/*
 * The part of the mappings of a kind in memory, estimated from an earlier look: the part then, as far as it is still
 * mapped, and all later mappings.
 */
uint64_t mire__residency_since(const struct residency_row *then, uint64_t mapped_bytes);

/* The live memory at the snapshot; zeros for entries that it does not have. */
struct snapshot_row mire__snapshot_category(const struct memory_snapshot *snapshot, uint32_t category);
struct snapshot_row mire__snapshot_pair(const struct memory_snapshot *snapshot, uint32_t category, uint32_t node);

#endif
