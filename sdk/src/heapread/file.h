/*
 * file.h - the file in which a run's memory tables lie: the meaning of its bytes, for the process that writes them and
 * for readers after its end.
 *
 *     [ header | slots | peaks | classes | images | paths | mappings | pcs | words | blocks | keys | shadow | extra |
 *       there ]
 *
 *     header    what the file is, mode and intervals, losses, where the sections lie
 *     slots     one page a thread: its counters, by size class
 *     peaks     highest sums of live bytes and counts, by category
 *     classes   names of object classes and their counters
 *     images    loaded and unloaded modules; paths: their texts
 *     mappings  stacks, files, anonymous memory
 *     pcs       code addresses seen in stacks: 48 bits of address, which image, whether it is still loaded
 *     words     the stack nodes, as runs of pcs (below)
 *     blocks    hash table of live blocks: 4 KiB segments of 16-byte entries
 *     keys      the 32 KiB of address space, and the phase, that each shadow page describes
 *     shadow    pages of 4-byte entries, one for 32 bytes of address space
 *     extra     belongs to the report builder
 *     there     which segments of blocks are claimed
 *
 * A section has a fixed offset and room for the most it may hold. The file is sparse, and claimed parts count against
 * the budget. Unclaimed parts are never touched: on a full tmpfs even a read of them is SIGBUS, and on one with room
 * it takes a page. Everything is written by plain stores of single words, in an order that leaves a whole entry or
 * none at any instant; the rules at each type identify a half-done change. Numbers are in the machine's byte order: the
 * file never leaves the machine. Readers take it for untrusted bytes all the same (read.h).
 *
 * Stack nodes. A node is a frame below a parent node, so it stands for a whole stack up to that frame. Nodes lie one
 * after the other in 16-bit words. A child that follows its parent directly does not name it:
 *
 *     0ccccccc cccccccc                        node, of pc number c < 32768
 *     10cccccc cccccccc  110ccccc cccccccc     node, of pc number c < 2^27
 *     10pppppp pppppppp  111ppppp pppppppp     jump: the parent of the next node is node p
 *
 * The pc number 0 marks a node that is being added. The number of a node is the index of its last word; 0 is the
 * root, the empty stack. The first bits of a word say what it is, so the way from a node to the root is read
 * backwards. A parent always has a lower number than its child. Nodes are only ever added.
 *
 * This header depends on nothing else: the server's command line reads the file too.
 */
#ifndef MIRE_HEAPREAD_FILE_H
#define MIRE_HEAPREAD_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MIRE_HEAP_MAGIC      0x3170616568726d00ull /* "\0mrheap1" */
#define MIRE_HEAP_VERSION    6u                    /* others are refused; magic, version and size never move */
#define MIRE_HEAP_PAGE_BYTES 4096u

/* Bounds. Each is also the room its section has. */
#define MIRE_HEAP_THREADS_MAX  2048u /* threads at a time; more are not recorded, and counted */
#define MIRE_HEAP_CLASSES_MAX  1024u /* object classes; 0 is none */
#define MIRE_HEAP_NAME_BYTES   64u   /* of a class's name, its end included */
#define MIRE_HEAP_IMAGES_MAX   2048u /* modules, unloaded ones included */
#define MIRE_HEAP_ID_BYTES     64u   /* of a build id */
#define MIRE_HEAP_PATHS_BYTES  (256u << 10)
#define MIRE_HEAP_MAPPINGS_MAX 65536u /* the kernel allows 65530 mappings by default */
#define MIRE_HEAP_PCS_MAX      (1u << 19)
#define MIRE_HEAP_WORDS_MAX    (1u << 23) /* a node's number fits into the 23 bits that a live block has for it */
#define MIRE_HEAP_EXTRA_BYTES  (160u << 10)
#define MIRE_HEAP_BUDGET_MIN   (2u << 20)
#define MIRE_HEAP_BUDGET_MAX   (256u << 20)

enum heap_section_id {
    MIRE_HEAP_SLOTS,
    MIRE_HEAP_PEAKS,
    MIRE_HEAP_CLASSES,
    MIRE_HEAP_IMAGES,
    MIRE_HEAP_PATHS,
    MIRE_HEAP_MAPPINGS,
    MIRE_HEAP_PCS,
    MIRE_HEAP_WORDS,
    MIRE_HEAP_BLOCKS,
    MIRE_HEAP_KEYS,
    MIRE_HEAP_SHADOW,
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
    MIRE_HEAP_DROP_FULL,    /* a block: no room within the budget */
    MIRE_HEAP_DROP_BUSY,    /* a block: a table's lock could not be taken in time */
    MIRE_HEAP_DROP_STACK,   /* a stack was cut: no room for more nodes, or their lock could not be taken in time */
    MIRE_HEAP_DROP_THREAD,  /* a thread: more than MIRE_HEAP_THREADS_MAX, or no room */
    MIRE_HEAP_DROP_MAPPING, /* a mapping: table full or busy */
    MIRE_HEAP_DROP_IMAGE,   /* a module: table full */
    MIRE_HEAP_DROP_CLASS,   /* a class or tag: table full */
    MIRE_HEAP_DROP_FREE,    /* a free that was not recorded: its block stays until its address is used again */
    MIRE_HEAP_DROP_OVERLAP, /* a block begins where a live one is: the free of that one was not seen */
    MIRE_HEAP_DROP_CALL,    /* a call that could not be recorded */
    MIRE_HEAP_DROPS
};

enum heap_mode { MIRE_HEAP_OFF = 0, MIRE_HEAP_EXACT = 1, MIRE_HEAP_SAMPLED = 2 };

/* Intervals used in a run; a block's weight follows from its own. Index 0: kept for certain, weight 1. */
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
     * The block on its way from its shadow entry to the blocks, 0: none. It is in its shadow entry, or else, where that
     * holds MIRE_SHADOW_MOVED, an entry; or else it has ended meanwhile, and there may be an entry all the same.
     */
    _Atomic uint64_t moving;

    /* Changed under the mode's lock. */
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
    _Atomic uint32_t pcs_used;
    _Atomic uint32_t words_used;
    _Atomic uint32_t nodes_used; /* nodes in those words */
    _Atomic uint32_t runs_used;  /* and the jumps between them */
    _Atomic uint32_t segments_used;
    _Atomic uint32_t shadow_pages_used;

    _Atomic uint64_t ready[MIRE_HEAP_SECTIONS]; /* bytes of each that are claimed, from its begin on; grow only */
};

/* ---- slots: what each thread counts ---- */

#define MIRE_HEAP_SIZES 63u /* size classes, categories.h */

/* A size class of one thread; the thread alone stores. Sums over all threads are the totals. A line of the cache. */
struct heap_count {
    _Atomic int64_t count, bytes;           /* allocated, ever */
    _Atomic int64_t live_count, live_bytes; /* allocated less freed; what other threads allocated is freed here too */
    _Atomic int64_t high_count,
        high_bytes; /* the highest of these since the last report, up to the last block freed; or `live` */
    _Atomic int64_t published_count, published_bytes; /* the part that is in the peaks */
};

struct heap_slot {
    _Atomic uint32_t inside; /* 1 while its thread works on the tables, otherwise 0 */
    _Atomic uint32_t owner;  /* thread id, 0: free. Its counts stay */
    uint32_t unused[14];
    struct heap_count counts[MIRE_HEAP_SIZES];
};

/* ---- peaks: of size classes and kinds of mappings ---- */

#define MIRE_HEAP_KINDS 40u /* enum heap_kind, categories.h */

struct heap_peak {
    _Atomic int64_t count, bytes; /* live, as of the threads' last reports */
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

/* ---- pcs: a code address and what lay there ---- */

#define MIRE_HEAP_ADDRESS_BITS 48
#define MIRE_HEAP_ADDRESS_MASK ((UINT64_C(1) << MIRE_HEAP_ADDRESS_BITS) - 1)
#define MIRE_HEAP_PC_GONE      (UINT64_C(1) << 63) /* its image was unloaded: another may be there now */
#define MIRE_HEAP_NO_IMAGE     0x7fffu
/* A tagged block's node is a child of its stack's, for the pc MIRE_HEAP_TAG_BASE + class. */
#define MIRE_HEAP_TAG_BASE UINT64_C(0xfffffffff000)

static inline uint64_t mire__pc_make(uint64_t address, uint32_t image)
{
    return (address & MIRE_HEAP_ADDRESS_MASK) | (uint64_t)(image & 0x7fff) << MIRE_HEAP_ADDRESS_BITS;
}

/* Is this the pc of that address, as it is now? */
static inline bool mire__pc_is(uint64_t pc, uint64_t address)
{
    return (pc & (MIRE_HEAP_ADDRESS_MASK | MIRE_HEAP_PC_GONE)) == address;
}

/* ---- words ---- */

#define MIRE_HEAP_PC_SHORT 0x8000u /* pcs below this one need one word */

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

/* ---- shadow entries ----
 *
 * 32 KiB of address space may have a shadow page of 1024 entries for each of four phases; a phase is the eight of 32
 * bytes in which a block begins. The key of a page names address / 32 KiB + 1 and the phase; 0: the page is free. The
 * first phase may also hold all blocks of an allocator of which no two begin within 32 bytes. An entry is
 *
 *     nnnnnnnn nnnnnnnn nnnnnnnt oossssss     n node, t tagged, o in which eight the block begins, s size + 1
 *
 * For a block of more than 61 bytes s is 63, and the next entry, in which no other block can begin, holds
 *
 *     ssssssss ssssssss ssssssss ss000000     s size
 *
 * An entry whose low six bits are 0 begins no block: so clearing one entry is enough, and the entry with s is stored
 * last. A 63 whose next entry begins a block is torn: no block. The entry of a block that was moved to the block
 * table holds MIRE_SHADOW_MOVED until header->moving says that the move is over.
 */
#define MIRE_SHADOW_SPAN_LOG      5
#define MIRE_SHADOW_PAGE_ENTRIES  1024u
#define MIRE_SHADOW_PAGE_SPAN_LOG 15 /* address space a page describes */
#define MIRE_SHADOW_PHASES        4u
#define MIRE_KEY_PHASE_SHIFT      62 /* of a key, the phase above the address */
#define MIRE_SHADOW_SIZE_MASK     63u
#define MIRE_SHADOW_SIZE_NEXT     63u
#define MIRE_SHADOW_SHORT_MAX     61u
#define MIRE_SHADOW_SIZE_MAX      ((1u << 26) - 1)
#define MIRE_SHADOW_OFFSET_SHIFT  6
#define MIRE_SHADOW_TAGGED        (1u << 8)
#define MIRE_SHADOW_NODE_SHIFT    9
#define MIRE_SHADOW_MOVED         (~0u << MIRE_SHADOW_NODE_SHIFT)

/* The key of a page, which is not 0; and what it names: the phase, and the first address. */
static inline uint64_t mire__key_make(uint64_t address, uint32_t phase)
{
    return ((address >> MIRE_SHADOW_PAGE_SPAN_LOG) + 1) | (uint64_t)phase << MIRE_KEY_PHASE_SHIFT;
}
static inline uint32_t mire__key_phase(uint64_t key)
{
    return (uint32_t)(key >> MIRE_KEY_PHASE_SHIFT);
}
static inline uint64_t mire__key_begin(uint64_t key)
{
    return ((key & ~(UINT64_C(3) << MIRE_KEY_PHASE_SHIFT)) - 1) << MIRE_SHADOW_PAGE_SPAN_LOG;
}

/* ---- the block table ----
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

/* The hash that pcs an address among segments and lines. */
static inline uint64_t mire__block_hash(uint64_t address)
{
    uint64_t x = (address >> 3) * 0x9e3779b97f4a7c15ull;

    return x ^ x >> 29;
}
static inline uint32_t mire__block_line(uint64_t hash)
{
    return (uint32_t)((hash & 0xffffffff) * MIRE_SEGMENT_LINES >> 32);
}

/* ---- mappings ---- */

/*
 * A mapping; it holds while start < end. Each change is one store: the end cut, the start cut, or the end set to 0,
 * which empties the entry. Where one is filled its end is stored last.
 *
 * A hole in the middle leaves two, and what lies behind it may be another call's: it is there at every instant. `rest`
 * names the new entry first; as soon as that one holds, this one ends where that one starts, whatever its own end says.
 */
struct heap_mapping {
    _Atomic uint64_t start, end;
    _Atomic uint64_t what; /* node, low 32 bits; enum heap_kind above */
    _Atomic uint64_t rest; /* number + 1 of the entry for what lies behind the hole that is being cut; 0: none */
};

_Static_assert(sizeof(struct heap_header) <= MIRE_HEAP_PAGE_BYTES, "the header is a page");
_Static_assert(sizeof(struct heap_slot) == MIRE_HEAP_PAGE_BYTES, "a slot is a page");
_Static_assert(sizeof(struct heap_segment) == MIRE_HEAP_PAGE_BYTES, "a segment is a page");
_Static_assert(MIRE_SHADOW_PAGE_ENTRIES * sizeof(uint32_t) == MIRE_HEAP_PAGE_BYTES, "so is the shadow of 32 KiB");
_Static_assert(sizeof(struct heap_class) == 128 && sizeof(struct heap_image) == 112, "nothing is padded");

#endif
