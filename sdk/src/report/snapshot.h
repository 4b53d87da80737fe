/*
 * snapshot.h - what the report builder keeps in a run's heap file, so that the file alone tells whose it is and what
 * was alive a while ago.
 *
 *     [ magic | facts | trail | looked | residency 0 | residency 1 | active | snapshot 0 | snapshot 1 ]
 *
 * The snapshots, by far the most of it, are there once one was taken. The facts are written once, before the tables.
 * Snapshots are written in turn, and `active` is stored last; so whoever reads the file of a killed process finds a
 * whole one. So are looks at how much of the mappings lies in memory, which nobody can ask for when the process is
 * gone. Of the trail, a copy of the evidence's (exit/trail.h), which does not live as long as this file, a kill may
 * cost the newest rows. Read as untrusted bytes.
 */
#ifndef MIRE_REPORT_SNAPSHOT_H
#define MIRE_REPORT_SNAPSHOT_H

#include "exit/evidence.h"
#include "heapread/read.h"
#include "report/tally.h"
#include "ring/blackbox.h"

#define MIRE_EXTRA_MAGIC         0x3378656d72696d00ull /* "\0mirmex3" */
#define MIRE_SNAPSHOT_CATEGORIES 1152u                 /* all that a heap file can have */
#define MIRE_SNAPSHOT_PAIRS      1900u                 /* those with most bytes; beyond them nothing matters */

/* Of a category (node 0) or of a stack in it. */
struct snapshot_row {
    uint32_t category;
    uint32_t node;
    uint64_t count;
    uint64_t bytes;
};

/* Rows are sorted by category and node. */
struct memory_snapshot {
    uint64_t taken_ns; /* CLOCK_MONOTONIC; 0: there is none */
    uint32_t category_count;
    uint32_t pair_count;
    struct snapshot_row categories[MIRE_SNAPSHOT_CATEGORIES];
    struct snapshot_row pairs[MIRE_SNAPSHOT_PAIRS];
};

/* Mappings of each kind (heapread/categories.h), how much of them counted in the footprint, and what else did. */
struct residency {
    uint64_t taken_ns;                             /* CLOCK_MONOTONIC; 0: nobody has looked */
    uint64_t footprint_bytes;                      /* 0: the kernel did not tell; nor any of the next line then */
    uint64_t library_bytes, own_bytes, free_bytes; /* free: what allocators held beyond the blocks */
    uint64_t block_bytes;                          /* live blocks, as large as they were asked for */
    uint64_t used_bytes;                           /* what the tables took */
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
    _Atomic uint32_t looked;                 /* the residency that holds */
    struct residency residencies[2];
    _Atomic uint32_t active;
    struct memory_snapshot snapshots[2];
};

/* What there is of it, at least: all but the rows of the snapshots. */
#define MIRE_EXTRA_FRONT_BYTES offsetof(struct memory_extra, snapshots[0].categories)

/*
 * The run begins.
 *   extra  zeroed, of the heap file; MIRE_EXTRA_FRONT_BYTES are enough
 */
void mire__extra_begin(struct memory_extra *extra, const struct blackbox_facts *facts);

/*
 * The facts in a file; false if there are none. Its texts may not end, as in a blackbox's.
 *   bytes  NULL is fine
 */
bool mire__extra_facts(struct blackbox_facts *out, const void *bytes, size_t size);

/* The footprint's way so far, likewise; and to read it back: rows with a time that does not fall, at most
 * MIRE_TRAIL_ROWS. */
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

/* Keep a look at the mappings, for which the front is enough; and the last one in a file, NULL if there is none.
 * Thread: one at a time. */
void mire__extra_set_residency(struct memory_extra *extra, const struct residency *looked);
const struct residency *mire__extra_residency(const void *bytes, size_t size);

/*
 * How much of the mappings of a kind lies in memory, from an earlier look: what was in memory then and is still mapped,
 * and whatever was mapped since.
 */
uint64_t mire__residency_since(const struct residency_row *then, uint64_t mapped_bytes);

/* What was alive then; zeros for what the snapshot does not have. */
struct snapshot_row mire__snapshot_category(const struct memory_snapshot *snapshot, uint32_t category);
struct snapshot_row mire__snapshot_pair(const struct memory_snapshot *snapshot, uint32_t category, uint32_t node);

#endif
