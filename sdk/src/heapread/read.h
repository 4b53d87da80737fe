/*
 * read.h - read a run's tables: in the process that writes them, after its death, or from a file that somebody sent.
 *
 * Takes any bytes: every offset, count and number is checked before it is used, and no text is assumed to end. Half-
 * written entries are left out. Pure: no system calls, no heap, no clock; memory is the caller's. It is part of the
 * SDK and of the server's command line, and depends on no other folder.
 *
 * Tables may change while they are read: each entry is read once, as it was at some instant during the read.
 *
 *     struct heap_reader reader;
 *     if (mire__read_open(&reader, bytes, size) == 0) {
 *         mire__read_live(&reader, on_block, context);
 *         for (i...) mire__read_category(&category, &reader, i);
 *     }
 *
 * Thread: any; a reader is one thread's.
 */
#ifndef MIRE_HEAPREAD_READ_H
#define MIRE_HEAPREAD_READ_H

#include "heapread/categories.h"
#include "heapread/weight.h"

#include <stddef.h>

struct heap_reader {
    const uint8_t *bytes;
    uint64_t size;
    const struct heap_header *header;
    uint64_t at[MIRE_HEAP_SECTIONS];       /* where each section lies */
    uint64_t bytes_of[MIRE_HEAP_SECTIONS]; /* how much of it is within the bytes */
    uint32_t intervals_count;
    uint64_t intervals[MIRE_HEAP_INTERVALS_MAX];
    uint16_t segment_of[1u << MIRE_SEGMENT_BITS_MAX]; /* of a hash's top bits; made by mire__read_open */
};

/* The facts of the header. */
struct heap_facts {
    uint8_t run_id[16];
    char boot_id[40]; /* ends with a zero byte */
    uint32_t pid;
    uint64_t start_ticks, start_mono_ns, start_wall_ms;
    uint64_t seen_ns; /* CLOCK_MONOTONIC of the reclaimer's last round, 0: none */
    bool stopped;     /* ended by itself, not by a kill */
    enum heap_mode mode, asked_mode;
    uint64_t interval_bytes, asked_interval_bytes; /* 0 in exact mode */
    uint32_t degrade_count;                        /* times the interval was raised for lack of room */
    uint64_t degraded_ns;                          /* CLOCK_MONOTONIC of the first, 0: never */
    uint64_t inexact_ns; /* since when totals and peaks leave calls out; 0: they leave out none */
    uint64_t budget_bytes, used_bytes, used_most_bytes;
    uint64_t allocated_count, freed_count; /* calls counted in exact mode, all threads */
    uint32_t node_count, pc_count, thread_count, image_count;
    uint64_t stack_bytes; /* of nodes and pcs in the file */
    uint64_t drops[MIRE_HEAP_DROPS];
};

enum heap_read { MIRE_READ_OK = 0, MIRE_READ_SHORT = -1, MIRE_READ_FORMAT = -2, MIRE_READ_VERSION = -3 };

/*
 * Begin to read.
 *   bytes  borrowed until the last call; aligned to 8
 * Returns MIRE_READ_OK, or why it is no such file: SHORT (less than a header), FORMAT, VERSION.
 */
enum heap_read mire__read_open(struct heap_reader *reader, const void *bytes, uint64_t size);

void mire__read_facts(struct heap_facts *out, const struct heap_reader *reader);

/* "full", "busy", ... Static; "" if there is no such reason. */
const char *mire__read_drop_name(enum heap_drop drop);

/* A live block or mapping. */
struct heap_live {
    uint64_t address, size;
    uint32_t node;     /* its stack: 0 if unknown */
    uint32_t category; /* categories.h */
    double chance;     /* with which it was drawn: it stands for 1 / chance blocks. 1: exact */
};

/* Visit until false is returned. */
typedef bool mire__read_live_fn(void *context, const struct heap_live *live);

/* Every live block, once, in no order. Returns the entries left out because they were torn or impossible. */
uint64_t mire__read_blocks(const struct heap_reader *reader, mire__read_live_fn *visit, void *context);

/* Every mapping; they overlap in a damaged file only. Results as above. */
uint64_t mire__read_mappings(const struct heap_reader *reader, mire__read_live_fn *visit, void *context);

/* Totals and peaks of a category; exact mode only (facts.inexact_ns). The visits above give the live ones. */
struct heap_category {
    char name[MIRE_CATEGORY_NAME_BYTES]; /* UTF-8 as it was given, not checked; ends with a zero byte */
    uint64_t total_count, total_bytes;
    uint64_t peak_count, peak_bytes;
};

/*
 *   category  0..MIRE_CATEGORIES_MAX-1
 * Returns false where there is no such category.
 */
bool mire__read_category(struct heap_category *out, const struct heap_reader *reader, uint32_t category);

/*
 * Live bytes by the threads' own counters: faster than a visit of every block, and exact in exact mode only.
 *   large_out  of it, blocks of more than `large` bytes, by size classes; those of object classes count as small
 */
uint64_t mire__read_live_bytes(uint64_t *large_out, const struct heap_reader *reader, uint64_t large);

/* One frame of a stack. */
struct heap_frame {
    uint64_t address; /* to look up: of the call instruction */
    uint32_t image;   /* MIRE_HEAP_NO_IMAGE: none known */
};

/*
 * A node's frame and its parent. The pseudo-frame of a tag is skipped.
 *   node  in: the node. out: its parent, 0 when this was the outermost frame
 * Returns false at the root, or if the bytes are no node; after fewer than MIRE_HEAP_WORDS_MAX steps in any case.
 */
bool mire__read_frame(struct heap_frame *out, const struct heap_reader *reader, uint32_t *node);

/* The class of a tagged block's node, 0 if it is none. */
uint32_t mire__read_class(const struct heap_reader *reader, uint32_t node);

/* A module. */
struct heap_read_image {
    uint64_t start, end, load, base;
    const uint8_t *id; /* borrowed from the bytes */
    uint32_t id_size;  /* 0..32 */
    const char *path;  /* borrowed, not ended by a zero byte */
    uint32_t path_bytes;
    bool gone; /* was unloaded */
};

/*   index  0..image_count-1. Returns false where there is no such image, or its entry is impossible. */
bool mire__read_image(struct heap_read_image *out, const struct heap_reader *reader, uint32_t index);

/* The builder's section; NULL, 0 bytes if it is not there. */
const void *mire__read_extra(size_t *bytes_out, const struct heap_reader *reader);

#endif
