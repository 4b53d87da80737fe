/*
 * object.h - reads an ELF, Mach-O, Breakpad or Java mapping file: identity, code ranges, DWARF sections, symbols, and
 * the functions of the unwind table.
 *
 *     ELF ------.                          .-- sections, decompressed (zlib, zstd) if need be
 *     Mach-O ---+--> struct object --------+-- code: the address ranges that hold instructions
 *     universal-+    (picked by UUID)      '-- symbols, also those of .gnu_debugdata
 *     Breakpad -+                              and the lines of text
 *     mapping --'    (names of Java)
 *
 * Files are untrusted: every offset and count is checked before use, and each problem has a text. Sections and names
 * point into the file's bytes; only decompressed sections and text lines are copies.
 *
 * Reading past the end is harmless: MIRE_OBJECT_PAD readable bytes follow the bytes of a file and of every section. A
 * reader therefore checks its position once per entry, provided that an entry is shorter than the pad.
 *
 * Thread: an object is read-only after object_open, so threads may share it.
 */
#ifndef MIRE_OBJECT_OBJECT_H
#define MIRE_OBJECT_OBJECT_H

#include "object/hidden.h"
#include "object/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_OBJECT_PAD      4096         /* readable bytes after a file and after each section */
#define MIRE_OBJECT_FILE_MAX (2ull << 30) /* limit of a file, bytes */
#define MIRE_OBJECT_ID_MAX   64           /* bytes of a build id */
#define MIRE_OBJECT_ALT      54           /* room for the name in .gnu_debugaltlink, with NUL */
#define MIRE_OBJECT_LINK     256          /* room for the name in .gnu_debuglink, with NUL */
#define MIRE_OBJECT_ARCH     16           /* room for the name of an architecture, with NUL */

struct file_bytes {
    const uint8_t *bytes;
    size_t len;
    size_t mapped; /* length of the mapping, bytes; 0: memory of the caller */
};

/* Map a file with its pad. Returns false if it cannot be read, is empty, is not a plain file, or is larger than
 * MIRE_OBJECT_FILE_MAX. */
bool file_bytes_map(struct file_bytes *out, const char *path);
bool file_bytes_map_fd(struct file_bytes *out, int fd);
void file_bytes_unmap(struct file_bytes *file);

enum section_name {
    MIRE_SECTION_INFO,
    MIRE_SECTION_ABBREV,
    MIRE_SECTION_LINE,
    MIRE_SECTION_STR,
    MIRE_SECTION_LINE_STR,
    MIRE_SECTION_STR_OFFSETS,
    MIRE_SECTION_ADDR,
    MIRE_SECTION_RANGES,
    MIRE_SECTION_RNGLISTS,
    MIRE_SECTION_CU_INDEX, /* index of a package of split files */
    MIRE_SECTION_COUNT
};

struct section {
    const uint8_t *bytes; /* NULL: not in the file */
    size_t len;
};

struct code { /* range of addresses with instructions */
    uint64_t low;
    uint64_t high; /* end of range, exclusive */
};

struct symbol { /* one function of a symbol table */
    uint64_t low;
    uint64_t high;    /* end of range, exclusive */
    const char *name; /* ends in a NUL or in the pad */
    uint8_t rank;     /* the highest rank of an address is shown */
};

struct loaded { /* part of the file that is loaded into memory */
    uint64_t address;
    const uint8_t *bytes;
    size_t len;
    bool writable;
};

struct mapped_object { /* object file of a Mach-O program, from its debug map */
    const char *path;  /* "/build/cart.o", "/build/lib.a(cart.o)" */
    uint32_t first, function_count;
};

struct mapped_function { /* function that the linker took from an object file */
    const char *name;
    uint64_t address;
    uint64_t size; /* 0: unknown */
};

enum object_format {
    MIRE_FORMAT_ELF,
    MIRE_FORMAT_MACHO,
    MIRE_FORMAT_BREAKPAD,
    MIRE_FORMAT_MAPPING,
    MIRE_FORMAT_METHODMAP
};

struct object_facts {
    enum object_format format;
    uint8_t id[MIRE_OBJECT_ID_MAX]; /* build id or UUID */
    size_t id_len;                  /* 0: no id */
    bool has_dwarf;                 /* or functions with lines in another format */
    bool has_symbols;
    bool split;                         /* .dwo or .dwp, for skeleton units; its id has 8 bytes */
    bool package;                       /* .dwp: several split files; their lowest id */
    bool both;                          /* a program that contains its split units: object_open_split */
    bool changed;                       /* a mapping that does not match its own hash; set by object_open */
    bool universal;                     /* one of several slices; the facts are those of one slice */
    bool system;                        /* a library of Apple's systems, of which nobody has more than names */
    char arch[MIRE_OBJECT_ARCH];        /* "other": unknown */
    uint64_t begin;                     /* the beginning of the image by its headers; 0 in a format without it */
    uint8_t alt_id[MIRE_OBJECT_ID_MAX]; /* build id of the dwz file, from .gnu_debugaltlink */
    size_t alt_id_len;                  /* 0: no dwz file */
    char alt_name[MIRE_OBJECT_ALT];     /* file name of the dwz file, cut; any bytes */
    char link[MIRE_OBJECT_LINK];        /* file with the DWARF, from .gnu_debuglink; "": no link */
    uint32_t link_crc;                  /* CRC-32 of that file */
};

/*
 * Examine an untrusted file. Nothing is decompressed.
 *
 *   bytes  the file; no pad is needed
 *   id     UUID of the wanted slice of a universal file; with id_len 0 the first slice
 *
 * Returns NULL, or the problem (static): not an object file, big-endian, a table outside the file, ...
 */
const char *object_look(struct object_facts *out, const void *bytes, size_t len, const uint8_t *id, size_t id_len);

/* Returns true if object_look may read a file with these first bytes. */
bool object_begins(const void *bytes, size_t len);

/*
 * Find slice `number` of a file: each architecture of a universal file; any other file is its own slice 0.
 *
 * Returns false if there is no such slice, or if it lies outside the file.
 */
bool object_slice(uint64_t *at_out, uint64_t *len_out, const void *bytes, size_t len, size_t number);

/*
 * Apple's name for the architecture of a Mach-O file that is not universal: "arm64e", "x86_64h", "armv7s", ...
 *
 * Returns a static text; "" for any other file and for an architecture without a name.
 */
const char *object_slice_arch(const void *bytes, size_t len);

struct object {
    struct object_facts facts;
    struct file_bytes file; /* borrowed */
    struct section sections[MIRE_SECTION_COUNT];
    struct section text;  /* lines of a text file, each ended by a NUL */
    bool split;           /* sections of a split file: .debug_info.dwo and so on */
    uint64_t dwarf_bytes; /* decompressed bytes of all DWARF sections, including unread ones */

    struct code *code; /* sorted by address, disjoint */
    size_t code_count;

    struct symbol *symbols; /* in file order; a symbol without a size ends with its section */
    size_t symbol_count;
    struct section go;     /* Go's table of functions and lines (.gopclntab); bytes NULL: none */
    uint64_t go_address;   /* address of that table */
    uint64_t go_text;      /* address of .text, the compiled code */
    struct loaded *loaded; /* loaded data, for reading Go's table */
    size_t loaded_count;

    struct mapped_object *mapped;
    size_t mapped_count;
    struct mapped_function *functions;

    struct hidden *hidden; /* map of hidden names (hidden.h); NULL: none */

    struct symbol *frames; /* functions of the unwind table, without names */
    size_t frame_count;

    void *held[MIRE_SECTION_COUNT + 2]; /* decompressed sections, freed by object_close */
    size_t held_bytes[MIRE_SECTION_COUNT + 2];
    size_t held_count;
};

/*
 * Open a file for reading.
 *
 *   file     borrowed until object_close
 *   id       as in object_look
 *   threads  number of threads that may decompress, 1..
 *
 * Returns NULL, or the problem of the file (static). The caller closes *out with object_close.
 */
const char *object_open(struct object **out, const struct file_bytes *file, const uint8_t *id, size_t id_len,
                        unsigned threads);

/* The same for the split units in a file whose facts.both is true. */
const char *object_open_split(struct object **out, const struct file_bytes *file, unsigned threads);

/*
 * The depth of a file: names, lines or DWARF. Line tables alone (-g1) count as lines: the DWARF must have parameters or
 * base types.
 */
enum symbol_depth object_depth(const struct object *object);

void object_close(struct object *object);

/* Release the resident pages of a mapped file. The next read loads them from disk again. Thread: any. */
void object_rest(const struct object *object);

/* Returns true if [low, high) lies inside one code range. */
bool object_is_code(const struct object *object, uint64_t low, uint64_t high);

#endif
