/*
 * cache.h - one converted file: from an address to functions, files and lines, by reading a few places of a mapped
 * file.
 *
 *     header   | 160 bytes, all numbers little-endian; its own checksum, and that of what follows
 *     pages    | for each 256 bytes of code the block its first byte lies in                     u32
 *     blocks   | where each begins, as an offset from `base`; where its bytes lie in `data`      2 u32
 *     files    | where each path lies in `texts`                                                 u32
 *     scopes   | two words each, just as wide as the largest of the file needs:
 *              |   name in `texts`, file of the call  |  scope it is inlined into, line of the call
 *              |   of a function instead of file and line: where it begins
 *     data     | from a multiple of 64 on: blocks of up to 16 segments: maximal runs of addresses with one scope, file
 *              | and line
 *              |   scope, file and line: the least of the block, and the bits that tell how much more
 *              |   16 beginnings as 16 bit distances from the block's, compared all at once
 *              |   the bits, segment by segment: the three numbers of one are at most 57 bits, one load
 *     texts    | names as linked (mangled), then paths, each of which is asked for more often; each ends in a NUL.
 *              | Where they take more than a third of a small file (templates) as one frame of zstd, unpacked when the
 *              | first address is looked up; look-ups are a tenth slower then, so others are left as they are
 *     lacks    | files that its DWARF refers to and that were not there, or damaged: struct cache_missing_file
 *
 * Scope 0 is a gap: nothing is known, and nothing is made up. A scope comes behind the one it is inlined into, so a
 * chain ends. Nothing in the file is an address in memory: it can be moved to any machine.
 *
 * A file that was damaged, or made to do harm, gives wrong answers at worst: every number that leads somewhere is
 * checked where it is used. Thread: any number, a cache is only read.
 */
#ifndef MIRE_CACHE_CACHE_H
#define MIRE_CACHE_CACHE_H

#include "cache/module.h"

#define MIRE_CACHE_VERSION 10 /* others are converted anew */

struct cache_head { /* as in the file */
    char magic[8];
    uint32_t version;
    uint32_t head_crc; /* of these 160 bytes, with 0 here */
    uint64_t file_bytes;
    uint32_t body_crc; /* of all that follows */
    uint8_t id_len;
    uint8_t kind;       /* enum symbol_kind */
    uint8_t scope_wide; /* bytes of a scope's first word */
    uint8_t scope_deep; /* and of its second */
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    uint64_t base;
    uint32_t high; /* behind the last segment */
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
    char arch[16];
    uint32_t packed_bytes;  /* of the texts in the file; 0: they lie there as they are */
    uint16_t damaged_units; /* of the files it is made of, so many or more: what they tell is not all here */
    uint8_t missing_count;
    uint8_t flags; /* enum cache_flag */
};

enum cache_flag {
    MIRE_CACHE_FROM_BASE = 1, /* offsets count from where the image begins (Breakpad), else from program headers' 0 */
    MIRE_CACHE_LINES = 2,     /* functions with lines, as line tables or Breakpad tell them, and no more */
};

#define MIRE_CACHE_MAGIC    "Mire\x7fSYM"
#define MIRE_CACHE_PAGE     256 /* bytes of code that a page stands for */
#define MIRE_CACHE_SEGMENTS 16  /* of a block */
#define MIRE_CACHE_REACH    0xffffu
#define MIRE_CACHE_BLOCK    44         /* bytes of a block before its bits */
#define MIRE_CACHE_PACKED   (1u << 20) /* bytes of texts that may be packed: unpacked in about a millisecond */
#define MIRE_CACHE_PAD      256        /* zeros behind scopes, and behind data: a block is shorter */
#define MIRE_CACHE_LINE     64         /* data begins at a multiple; so a block's places in it are those in lines */
#define MIRE_CACHE_NEAR     (1u << 20) /* data that processors keep near: behind it no block's front is in two lines */

/* Numbers of a block's three words: the least value, and above it how many bits each segment has. */
#define MIRE_CACHE_SCOPE_BITS 27
#define MIRE_CACHE_FILE_BITS  22 /* then 5 of width, then 4 of the number of segments less one */
#define MIRE_CACHE_LINE_BITS  24
#define MIRE_CACHE_ROW_BITS   57 /* of a segment's three numbers: one load of 64 bits has them from any bit on */

struct cache_missing_file { /* as in the file */
    uint64_t contents_id;   /* of the contents that were there then; 0: it was not there */
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    uint8_t id_len;
    uint8_t is_alt;             /* it is what .gnu_debugaltlink means, else a split file, with an id of 8 bytes */
    char name[MIRE_SYMBOL_ALT]; /* of the former: as it is told there, cut */
};

#define MIRE_CACHE_MISSING (MIRE_SYMBOL_SPLITS + 1)

struct cache_block { /* as in the file */
    uint32_t start;  /* offset from base */
    uint32_t place;  /* of its bytes in data */
};

_Static_assert(sizeof(struct cache_head) == 160, "the header has no holes");

/*
 * Open a cache.
 *
 *   out     closed by cache_close
 *   id      it must be that of this build id; id_len 0: of any
 *   whole   also compare the checksum of everything: for a file that has just come
 *
 * Returns NULL, or what is wrong with the file (static).
 */
const char *cache_open(struct module **out, const char *path, const uint8_t *id, size_t id_len, bool whole);

/* The same of an open file, which may be closed afterwards. */
const char *cache_open_fd(struct module **out, int fd, const uint8_t *id, size_t id_len, bool whole);

void cache_close(struct module *module);

/* The header of an open cache. */
const struct cache_head *cache_head(const struct module *module);

#endif
