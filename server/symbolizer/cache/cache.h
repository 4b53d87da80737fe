/*
 * cache.h - a converted file. A look-up reads a few places of a mapped file to get from an address to functions, files
 * and lines.
 *
 *     header   | 160 bytes, all numbers little-endian; its own checksum, and that of the rest
 *     pages    | for each 256 bytes of code the block that contains its first byte               u32
 *     blocks   | start, as an offset from `base`; position of its bytes in `data`                2 u32
 *     files    | position of each path in `texts`                                                u32
 *     scopes   | two words each, as wide as the largest of the file needs:
 *              |   name in `texts`, file of the call  |  scope it is inlined into, line of the call
 *              |   of a function, in place of file and line: its start
 *     data     | from a multiple of 64 on: blocks of up to 16 segments: maximal runs of addresses with one scope, file
 *              | and line
 *              |   scope, file and line: the minimum of the block, and the width of the differences in bits
 *              |   16 starts as 16-bit distances from the block's, compared in one step
 *              |   the differences, segment by segment: at most 57 bits for all three numbers, one load
 *     texts    | linker's (mangled) names, then the more frequently read paths; each ends in a NUL. In a small file
 *              | (templates) where they take more than a third, they are one frame of zstd, which the first look-up
 *              | decompresses; look-ups are a tenth slower then, so other files are not compressed
 *     missing  | files that the DWARF refers to and that were missing or damaged: struct cache_missing_file
 *
 * Scope 0 is a gap: the address is unknown. A scope comes after the one it is inlined into, so a chain ends. The file
 * contains no memory addresses and can be moved to any machine.
 *
 * A damaged or hostile file gives wrong answers and nothing worse: every index is checked where it is used. Thread: any
 * number; a cache is read-only.
 */
#ifndef MIRE_CACHE_CACHE_H
#define MIRE_CACHE_CACHE_H

#include "cache/module.h"

#define MIRE_CACHE_VERSION 11 /* caches of other versions are converted again */

struct cache_head { /* layout of the file */
    char magic[8];
    uint32_t version;
    uint32_t head_crc; /* checksum of these 160 bytes, with 0 here */
    uint64_t file_bytes;
    uint32_t body_crc; /* checksum of the rest */
    uint8_t id_len;
    uint8_t kind;       /* enum symbol_kind */
    uint8_t scope_wide; /* bytes of a scope's first word */
    uint8_t scope_deep; /* bytes of its second word */
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    uint64_t base;
    uint32_t high; /* end of the last segment, exclusive */
    uint32_t page_count;
    uint32_t block_count;
    uint32_t scope_count;
    uint32_t file_count;
    uint32_t data_bytes;
    uint32_t text_bytes;
    uint8_t name_bits;
    uint8_t parent_bits;
    uint8_t file_bits;
    uint8_t line_bits;
    char arch[12];
    uint32_t lead;          /* bytes of the image before base: its headers */
    uint32_t packed_bytes;  /* compressed bytes of the texts; 0: not compressed */
    uint16_t damaged_units; /* units with damage in the source files, at least */
    uint8_t missing_count;
    uint8_t flags; /* enum cache_flag */
};

enum cache_flag {
    MIRE_CACHE_FROM_BASE = 1, /* offsets count from the image's start (Breakpad); otherwise from address 0 */
    MIRE_CACHE_LINES = 2,     /* functions with lines only, from line tables or Breakpad */
    MIRE_CACHE_SYSTEM = 4,    /* a library of Apple's systems: nobody has more than its names */
};

#define MIRE_CACHE_MAGIC    "Mire\x7fSYM"
#define MIRE_CACHE_PAGE     256 /* bytes of code per page */
#define MIRE_CACHE_SEGMENTS 16  /* segments per block */
#define MIRE_CACHE_REACH    0xffffu
#define MIRE_CACHE_BLOCK    44         /* bytes of a block before its differences */
#define MIRE_CACHE_PACKED   (1u << 20) /* limit for compressed texts, bytes: decompressed in about 1 ms */
#define MIRE_CACHE_PAD      256        /* zeros after scopes and after data; longer than a block */
#define MIRE_CACHE_LINE     64         /* alignment of data: one cache line */
#define MIRE_CACHE_NEAR     (1u << 20) /* bytes of data that fit in caches; above, a block's front is in one line */

/* The three words of a block: the minimum, and above it the width of each segment's difference. */
#define MIRE_CACHE_SCOPE_BITS 27
#define MIRE_CACHE_FILE_BITS  22 /* then 5 bits of width, then 4 of the number of segments less one */
#define MIRE_CACHE_LINE_BITS  24
#define MIRE_CACHE_ROW_BITS   57 /* a segment's three numbers; a 64-bit load contains them at any bit offset */

struct cache_missing_file { /* layout of the file */
    uint64_t contents_id;   /* contents of the damaged file; 0: missing */
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    uint8_t id_len;
    uint8_t is_alt;             /* 1: dwz file (.gnu_debugaltlink); 0: split file, with an id of 8 bytes */
    char name[MIRE_SYMBOL_ALT]; /* name of a dwz file as in the section, cut */
};

#define MIRE_CACHE_MISSING (MIRE_SYMBOL_SPLITS + 1)

struct cache_block { /* layout of the file */
    uint32_t start;  /* offset from base */
    uint32_t place;  /* position of its bytes in data */
};

_Static_assert(sizeof(struct cache_head) == 160, "the header has no holes");

/*
 * Open a cache.
 *
 *   out     closed by cache_close
 *   id      the build id that the cache must have; with id_len 0 any
 *   whole   true: also verify the checksum of the whole file, for a file that was just written
 *
 * Returns NULL, or the problem of the file (static).
 */
const char *cache_open(struct module **out, const char *path, const uint8_t *id, size_t id_len, bool whole);

/* The same for an open file. The caller may close `fd` afterwards. */
const char *cache_open_fd(struct module **out, int fd, const uint8_t *id, size_t id_len, bool whole);

void cache_close(struct module *module);

/* The header of an open cache, owned by the module. */
const struct cache_head *cache_head(const struct module *module);

#endif
