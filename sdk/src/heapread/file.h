/*
 * file.h - the file in which a run's memory tables lie: what its bytes mean, for the process that writes them and for
 * whoever reads them after it is gone.
 *
 *     [ header | slots | peaks | classes | images | paths | regions | places | words | blocks | keys | cells | extra ]
 *
 *     header    what the file is, mode and intervals, what was lost, where the sections lie
 *     slots     one page a thread: its counters, by size class
 *     peaks     highest sums of live bytes and counts, by category
 *     classes   names of object classes and their counters
 *     images    loaded modules, those that were unloaded too; paths: their texts
 *     regions   mappings: stacks, files, anonymous memory
 *     places    code addresses seen in stacks: 48 bits of address, which image, whether it is still loaded
 *     words     the stack nodes, as runs of places (below)
 *     blocks    hash table of live blocks: 4 KiB segments of 16-byte entries
 *     keys      which 32 KiB of address space each page of cells describes
 *     cells     one 4-byte cell for 32 bytes of address space, by pages
 *     extra     belongs to the report builder
 *
 * A section has a fixed place and room for the most it may hold; the file is sparse, and what is claimed of it is
 * counted against the budget. What is not claimed is never looked at: on a full file system in memory even a read of it
 * is SIGBUS, and where there is room it takes some. Everything is written by plain stores of single words, in an order
 * that leaves a whole entry or none at any instant; what can be half done is told apart by the rules at each type.
 * Numbers are in the machine's own order: the file never leaves the machine. Readers take it for untrusted bytes all
 * the same (read.h).
 *
 * Stack nodes. A node is a frame below a parent node, that is, a whole stack up to that frame. Nodes lie one after the
 * other in 16-bit words, where a child follows its parent without another word about it:
 *
 *     0ccccccc cccccccc                        node, of place c < 32768
 *     10cccccc cccccccc  110ccccc cccccccc     node, of place c < 2^27
 *     10pppppp pppppppp  111ppppp pppppppp     jump: the parent of the next node is node p
 *
 * A place of 0 says that a node is being added. The number of a node is the index of its last word; 0 is the root, the
 * empty stack. Every word tells what it is, so the way from a node to the root can be read backwards. A parent has a
 * lower number than its child, always. Nodes are only ever added.
 *
 * This header stands alone: the command line of the server reads the file too.
 */
#ifndef MIRE_HEAPREAD_FILE_H
#define MIRE_HEAPREAD_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MIRE_HEAP_MAGIC      0x3170616568726d00ull /* "\0mrheap1" */
#define MIRE_HEAP_VERSION    5u                    /* others are refused; magic, version and size stay where they are */
#define MIRE_HEAP_PAGE_BYTES 4096u

/* Bounds. Each is also the room its section has. */
#define MIRE_HEAP_THREADS_MAX 2048u /* threads counted at a time; those beyond are not watched, and counted */
#define MIRE_HEAP_CLASSES_MAX 1024u /* object classes; 0 is none */
#define MIRE_HEAP_NAME_BYTES  64u   /* of a class's name, its end included */
#define MIRE_HEAP_IMAGES_MAX  2048u /* modules, unloaded ones included */
#define MIRE_HEAP_ID_BYTES    64u   /* of a build id */
#define MIRE_HEAP_PATHS_BYTES (256u << 10)
#define MIRE_HEAP_REGIONS_MAX 65536u /* the kernel allows 65530 mappings by default */
#define MIRE_HEAP_PLACES_MAX  (1u << 19)
#define MIRE_HEAP_WORDS_MAX   (1u << 23) /* a node's number fits into the 23 bits that a live block has for it */
#define MIRE_HEAP_EXTRA_BYTES (160u << 10)
#define MIRE_HEAP_BUDGET_MIN  (2u << 20)
#define MIRE_HEAP_BUDGET_MAX  (256u << 20)

enum heap_section_id {
    MIRE_HEAP_SLOTS,
    MIRE_HEAP_PEAKS,
    MIRE_HEAP_CLASSES,
    MIRE_HEAP_IMAGES,
    MIRE_HEAP_PATHS,
    MIRE_HEAP_REGIONS,
    MIRE_HEAP_PLACES,
    MIRE_HEAP_WORDS,
    MIRE_HEAP_BLOCKS,
    MIRE_HEAP_KEYS,
    MIRE_HEAP_CELLS,
    MIRE_HEAP_EXTRA,
    MIRE_HEAP_THERE, /* a byte for each segment of blocks: 1 while its page is claimed */
    MIRE_HEAP_SECTIONS
};

struct heap_section {
    uint64_t at; /* in the file, a multiple of a page */
    uint64_t bytes;
};

/* Why something is missing from the tables. */
enum heap_drop {
    MIRE_HEAP_DROP_FULL,   /* a block: no room within the budget */
    MIRE_HEAP_DROP_BUSY,   /* a block: a table's lock was not to be had in time */
    MIRE_HEAP_DROP_STACK,  /* a stack was cut: no room for more nodes, or their lock was not to be had in time */
    MIRE_HEAP_DROP_THREAD, /* a thread: more than MIRE_HEAP_THREADS_MAX, or no room */
    MIRE_HEAP_DROP_REGION, /* a mapping: table full or busy */
    MIRE_HEAP_DROP_IMAGE,  /* a module: table full */
    MIRE_HEAP_DROP_CLASS,  /* a class or tag: table full */
    MIRE_HEAP_DROP_FREE, /* a free that could not be noted: its block stays in the tables until its address is used anew
                          */
    MIRE_HEAP_DROP_OVERLAP, /* a block begins where a live one is: the end of that one was not seen */
    MIRE_HEAP_DROP_CALL,    /* the collector: a call that could not be looked at */
    MIRE_HEAP_DROPS
};

enum heap_mode { MIRE_HEAP_OFF = 0, MIRE_HEAP_EXACT = 1, MIRE_HEAP_SAMPLED = 2 };

/* Intervals ever used in a run; a block's weight follows from its own. Index 0 says: kept for certain, weight 1. */
#define MIRE_HEAP_INTERVALS_MAX 32u

struct heap_header {
    uint64_t magic; /* stored last by mire__heap_format */
    uint32_t version;
    uint32_t header_bytes;
    uint64_t size_bytes;
    struct heap_section sections[MIRE_HEAP_SECTIONS];

    uint64_t budget_bytes;
    uint8_t run_id[16]; /* the run's; its blackbox is named by it too */
    char boot_id[40];
    uint32_t pid;
    uint32_t unused;
    uint64_t start_ticks;   /* field 22 of /proc/PID/stat */
    uint64_t start_mono_ns; /* the same instant on two clocks */
    uint64_t start_wall_ms;

    /* Any thread, relaxed. */
    _Atomic uint64_t drops[MIRE_HEAP_DROPS];
    _Atomic uint64_t claimed_bytes; /* of the budget: file and memory without a file */
    _Atomic uint64_t claimed_most_bytes;
    _Atomic uint64_t seen_ns; /* CLOCK_MONOTONIC, when the tables were last kept (heap/reclaim.h) */
    /*
     * The block on its way from its cell to the blocks, 0: none. It is in its cell, or else, where that holds
     * MIRE_CELL_MOVED, an entry; or else it has ended meanwhile, and there may be an entry all the same.
     */
    _Atomic uint64_t moving;

    /* Whoever changes the mode, under its lock. */
    _Atomic uint32_t mode;           /* enum heap_mode */
    _Atomic uint32_t interval;       /* index of the one in force, 0 in exact mode */
    _Atomic uint32_t interval_count; /* 1 at least; stored after what it counts */
    _Atomic uint32_t asked_mode;     /* what was asked for; another than `mode` where the tables were full */
    _Atomic uint64_t asked_interval_bytes;
    _Atomic uint64_t intervals[MIRE_HEAP_INTERVALS_MAX];
    _Atomic uint32_t degrade_count; /* times the interval was raised because the budget was used up */
    _Atomic uint32_t stopped;       /* 1: collecting ended with the program or on request, not by a kill */
    _Atomic uint64_t degraded_ns;   /* CLOCK_MONOTONIC of the first of them, 0: none */
    _Atomic uint64_t inexact_ns;    /* since when totals and peaks leave calls out, 0: they do not */

    /* How much of each section holds something. */
    _Atomic uint32_t slots_used;
    _Atomic uint32_t classes_used;
    _Atomic uint32_t images_used;
    _Atomic uint32_t paths_used_bytes;
    _Atomic uint32_t regions_used;
    _Atomic uint32_t places_used;
    _Atomic uint32_t words_used;
    _Atomic uint32_t nodes_used; /* nodes in those words */
    _Atomic uint32_t runs_used;  /* and the jumps between them */
    _Atomic uint32_t segments_used;
    _Atomic uint32_t cell_pages_used;

    _Atomic uint64_t ready[MIRE_HEAP_SECTIONS]; /* bytes of each that are claimed, from its begin on; grow only */
};

/* ---- slots: what each thread counts ---- */

#define MIRE_HEAP_SIZES 63u /* size classes, categories.h */

/* A size class of one thread; the thread alone stores. Sums over all threads are the totals. A line of the cache. */
struct heap_count {
    _Atomic int64_t count, bytes;           /* allocated, ever */
    _Atomic int64_t live_count, live_bytes; /* allocated less freed; what other threads allocated is freed here too */
    _Atomic int64_t high_count, high_bytes; /* the highest of these since told, up to the last block freed; or `live` */
    _Atomic int64_t told_count, told_bytes; /* of them, what the peaks know of */
};

struct heap_slot {
    _Atomic uint32_t inside; /* 1 while its thread works on the tables, else 0 */
    _Atomic uint32_t owner;  /* thread id, 0: free. What it counted stays */
    uint32_t unused[14];
    struct heap_count counts[MIRE_HEAP_SIZES];
};

/* ---- peaks: of size classes and kinds of mappings ---- */

#define MIRE_HEAP_KINDS 8u /* enum heap_kind, categories.h */

struct heap_peak {
    _Atomic int64_t count, bytes; /* live, as far as told */
    _Atomic int64_t peak_count, peak_bytes;
};

/* A class or kind whose counters all threads share. */
struct heap_shared_count {
    _Atomic uint64_t count, bytes, freed_count, freed_bytes, peak_count, peak_bytes;
};

struct heap_peaks {
    struct heap_peak sizes[MIRE_HEAP_SIZES];
    struct heap_shared_count kinds[MIRE_HEAP_KINDS]; /* of mappings; exact */
};

struct heap_class {
    char name[MIRE_HEAP_NAME_BYTES]; /* UTF-8, ends with a zero byte; complete before classes_used says so */
    struct heap_shared_count counts;
    uint64_t unused[2];
};

/* ---- images ---- */

struct heap_image {
    uint64_t start, end; /* addresses it spans, end excluded */
    uint64_t load;       /* load bias: address less the address in the file's program headers */
    uint64_t base;       /* where the module begins in the file's program headers */
    uint32_t path_at;    /* in the paths */
    uint32_t path_bytes; /* without its end */
    uint8_t id_size;     /* of the build id, 0 if it has none */
    uint8_t unused[3];
    _Atomic uint32_t gone; /* 1: unloaded */
    uint8_t id[MIRE_HEAP_ID_BYTES];
};

/* ---- places: a code address and what lay there ---- */

#define MIRE_HEAP_ADDRESS_BITS 48
#define MIRE_HEAP_ADDRESS_MASK ((UINT64_C(1) << MIRE_HEAP_ADDRESS_BITS) - 1)
#define MIRE_HEAP_PLACE_GONE   (UINT64_C(1) << 63) /* its image was unloaded: another may be there now */
#define MIRE_HEAP_NO_IMAGE     0x7fffu
/* A tagged block's node is a child of its stack's, for the place MIRE_HEAP_TAG_BASE + class. */
#define MIRE_HEAP_TAG_BASE UINT64_C(0xfffffffff000)

static inline uint64_t mire__place_make(uint64_t address, uint32_t image)
{
    return (address & MIRE_HEAP_ADDRESS_MASK) | (uint64_t)(image & 0x7fff) << MIRE_HEAP_ADDRESS_BITS;
}

/* Is this the place of that address, as it is now? */
static inline bool mire__place_is(uint64_t place, uint64_t address)
{
    return (place & (MIRE_HEAP_ADDRESS_MASK | MIRE_HEAP_PLACE_GONE)) == address;
}

/* ---- words ---- */

#define MIRE_HEAP_PLACE_SHORT 0x8000u /* places below this one need one word */

static inline bool mire__word_is_short(uint16_t word)
{
    return word < 0x8000;
}
static inline bool mire__word_is_first(uint16_t word) /* of two */
{
    return word >> 14 == 2;
}
static inline bool mire__word_ends_long(uint16_t word)
{
    return word >> 13 == 6;
}
static inline bool mire__word_ends_jump(uint16_t word)
{
    return word >> 13 == 7;
}
static inline uint32_t mire__words_value(uint16_t first, uint16_t second)
{
    return (uint32_t)(first & 0x3fff) << 13 | (second & 0x1fff);
}
static inline uint16_t mire__word_first(uint32_t value)
{
    return (uint16_t)(0x8000 | (value >> 13 & 0x3fff));
}
static inline uint16_t mire__word_jump(uint32_t value) /* the second of two */
{
    return (uint16_t)(0xe000 | (value & 0x1fff));
}

/* ---- cells: small blocks ----
 *
 * 32 KiB of address space have a page of 1024 cells; its key is the address / 32 KiB + 1, 0: the page is of nothing.
 * They may have up to four, in planes, which their keys tell: the first is for blocks that begin with a cell, the
 * others for those that begin 8, 16 and 24 bytes later, and may be for any of a program of which no two begin in one
 * cell. The block that begins within a cell's 32 bytes is told by
 *
 *     nnnnnnnn nnnnnnnn nnnnnnnt oossssss     n node, t tagged, o where in the cell, in eights, s size + 1
 *
 * and if it has more than 61 bytes, s is 63 and the next cell, in which then no other block can begin, holds
 *
 *     ssssssss ssssssss ssssssss ss000000     s size
 *
 * A cell whose low six bits are zero begins no block: clearing one cell is enough, and one is stored last. A 63 whose
 * next cell begins a block is torn: no block. The cell of a block that was moved to the other table holds
 * MIRE_CELL_MOVED until header->moving says that the move is over.
 */
#define MIRE_CELL_SPAN_LOG     5
#define MIRE_CELLS_PAGE        1024u
#define MIRE_CELLS_SPAN_LOG    15 /* address space a page describes */
#define MIRE_CELLS_PLANES      4u
#define MIRE_KEY_PLANE_SHIFT   62 /* of a key, the plane above the address */
#define MIRE_CELL_SIZE_MASK    63u
#define MIRE_CELL_SIZE_NEXT    63u
#define MIRE_CELL_SHORT_MAX    61u
#define MIRE_CELL_SIZE_MAX     ((1u << 26) - 1)
#define MIRE_CELL_OFFSET_SHIFT 6
#define MIRE_CELL_TAGGED       (1u << 8)
#define MIRE_CELL_NODE_SHIFT   9
#define MIRE_CELL_MOVED        (~0u << MIRE_CELL_NODE_SHIFT)

/* The key of a page; where what it describes begins, and its plane. The key is not 0. */
static inline uint64_t mire__key_make(uint64_t address, uint32_t plane)
{
    return ((address >> MIRE_CELLS_SPAN_LOG) + 1) | (uint64_t)plane << MIRE_KEY_PLANE_SHIFT;
}
static inline uint32_t mire__key_plane(uint64_t key)
{
    return (uint32_t)(key >> MIRE_KEY_PLANE_SHIFT);
}
static inline uint64_t mire__key_begin(uint64_t key)
{
    return ((key & ~(UINT64_C(3) << MIRE_KEY_PLANE_SHIFT)) - 1) << MIRE_CELLS_SPAN_LOG;
}

/* ---- blocks: all others ----
 *
 * A segment is a page: after the line that says which hashes belong here, 63 lines of four entries. An entry lies in
 * the line of its hash or one of the three behind it. `covers` is the depth + 1, and above it the prefix: hashes whose
 * top `depth` bits are `prefix` belong here; 0: being filled, or free. While a segment is split or joined two have
 * copies of an entry: it counts in that segment alone which, of those that cover its hash, has the greatest depth.
 *
 *     where   aaaaaaaa * 6, address  | tiiiii00 00000000      t tagged, i interval; 0: no entry; stored last
 *     what    23 bits node, 41 bits size
 */
struct heap_entry {
    _Atomic uint64_t where;
    _Atomic uint64_t what;
};

#define MIRE_SEGMENT_LINES         63u
#define MIRE_SEGMENT_ENTRIES       (4 * MIRE_SEGMENT_LINES)
#define MIRE_SEGMENT_WINDOW        4u  /* lines in which an entry may lie, from that of its hash on */
#define MIRE_SEGMENT_BITS_MAX      14u /* of the hash, that choose the segment */
#define MIRE_COVERS_DEPTH(covers)  (((covers)&0xff) - 1)
#define MIRE_COVERS_PREFIX(covers) ((covers) >> 8)

struct heap_segment {
    _Atomic uint32_t lock;
    _Atomic uint32_t covers;
    uint32_t unused[14];
    struct heap_entry entries[MIRE_SEGMENT_ENTRIES];
};

#define MIRE_WHERE_TAGGED         (UINT64_C(1) << 63)
#define MIRE_WHERE_INTERVAL_SHIFT 58
#define MIRE_WHAT_SIZE_BITS       41
#define MIRE_WHAT_SIZE_MAX        ((UINT64_C(1) << MIRE_WHAT_SIZE_BITS) - 1)

static inline uint64_t mire__where_address(uint64_t where)
{
    return where & MIRE_HEAP_ADDRESS_MASK;
}
static inline uint32_t mire__where_interval(uint64_t where)
{
    return (uint32_t)(where >> MIRE_WHERE_INTERVAL_SHIFT) & 31;
}

/* The hash that places an address among segments and lines. */
static inline uint64_t mire__block_hash(uint64_t address)
{
    uint64_t x = (address >> 3) * 0x9e3779b97f4a7c15ull;

    return x ^ x >> 29;
}
static inline uint32_t mire__block_line(uint64_t hash)
{
    return (uint32_t)((hash & 0xffffffff) * MIRE_SEGMENT_LINES >> 32);
}

/* ---- regions ---- */

/*
 * A mapping; it holds while start < end. Each change is one store: the end cut, the start cut, or the end set to 0,
 * which empties the entry. Where one is filled its end is stored last.
 *
 * A hole in the middle leaves two, and what lies behind it may be another call's: it is there at every instant. `rest`
 * names the new entry first; as soon as that one holds, this one ends where that one starts, whatever its own end says.
 */
struct heap_region {
    _Atomic uint64_t start, end;
    _Atomic uint64_t what; /* node, low 32 bits; enum heap_kind above */
    _Atomic uint64_t rest; /* number + 1 of the entry for what lies behind the hole that is being cut; 0: none */
};

_Static_assert(sizeof(struct heap_header) <= MIRE_HEAP_PAGE_BYTES, "the header is a page");
_Static_assert(sizeof(struct heap_slot) == MIRE_HEAP_PAGE_BYTES, "a slot is a page");
_Static_assert(sizeof(struct heap_segment) == MIRE_HEAP_PAGE_BYTES, "a segment is a page");
_Static_assert(MIRE_CELLS_PAGE * sizeof(uint32_t) == MIRE_HEAP_PAGE_BYTES, "so are the cells of 32 KiB");
_Static_assert(sizeof(struct heap_class) == 128 && sizeof(struct heap_image) == 112, "nothing is padded");

#endif
