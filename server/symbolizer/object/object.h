/*
 * object.h - what is in an ELF, Mach-O or Breakpad file that leads from addresses to names: identity, code, the
 * sections of DWARF, symbols, the unwind table's functions.
 *
 *     ELF ------.                          .-- sections, decompressed (zlib, zstd) if need be
 *     Mach-O ---+--> struct object --------+-- code: the address ranges that hold instructions
 *     universal-+    (picked by UUID)      '-- symbols, also those of .gnu_debugdata
 *     Breakpad -+                              and the lines of text
 *     mapping --'    (names of Java)
 *
 * Files come from anywhere: every offset and count in them is checked before it is used, and what is wrong with one is
 * told in words. Nothing is copied that need not be: sections and names lie in the file's bytes.
 *
 * Reading past the end is made harmless instead of being checked byte by byte: behind the bytes of a file, and behind
 * every section, MIRE_OBJECT_PAD more bytes can be read. A reader checks its place once per entry, as long as an entry
 * is shorter than that.
 *
 * Thread: an object is only read after object_open, so threads may share it.
 */
#ifndef MIRE_OBJECT_OBJECT_H
#define MIRE_OBJECT_OBJECT_H

#include "object/hidden.h"
#include "object/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_OBJECT_PAD      4096         /* bytes that can be read behind a file and behind each section */
#define MIRE_OBJECT_FILE_MAX (2ull << 30) /* bytes of a file that is opened */
#define MIRE_OBJECT_ID_MAX   64           /* bytes of a build id */
#define MIRE_OBJECT_ALT      54           /* room for the name in .gnu_debugaltlink, with NUL */
#define MIRE_OBJECT_LINK     256          /* room for the name in .gnu_debuglink, with NUL */
#define MIRE_OBJECT_ARCH     16           /* room for the name of an architecture, with NUL */

struct file_bytes {
    const uint8_t *bytes;
    size_t len;
    size_t mapped; /* bytes to unmap; 0: the caller's */
};

/* Map a file with its pad. False: it cannot be read, is empty, not a plain file, or larger than MIRE_OBJECT_FILE_MAX.
 */
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
    MIRE_SECTION_CU_INDEX, /* of a package of split files */
    MIRE_SECTION_COUNT
};

struct section {
    const uint8_t *bytes; /* NULL: the file has none */
    size_t len;
};

struct code { /* addresses that hold instructions */
    uint64_t low;
    uint64_t high; /* not in it */
};

struct symbol { /* one function of a symbol table */
    uint64_t low;
    uint64_t high;    /* not in it */
    const char *name; /* ends in a NUL or at the pad */
    uint8_t rank;     /* among names of one address the highest is shown */
};

struct loaded { /* bytes of the file that lie in the program's memory */
    uint64_t address;
    const uint8_t *bytes;
    size_t len;
    bool writable;
};

struct mapped_object { /* an object file that a Mach-O program was linked from, by its debug map */
    const char *path;  /* "/build/cart.o", "/build/lib.a(cart.o)" */
    uint32_t first, function_count;
};

struct mapped_function { /* one that the linker took from it */
    const char *name;
    uint64_t address;
    uint64_t size; /* 0: not told */
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
    size_t id_len;                  /* 0: none */
    bool has_dwarf;                 /* or functions with lines of another kind */
    bool has_symbols;
    bool split;                         /* .dwo or .dwp: for the skeletons of a program, known by an id of 8 bytes */
    bool package;                       /* .dwp: many of them, known by the lowest id */
    bool both;                          /* a program, with its split units in it as well: object_open_split */
    bool changed;                       /* a mapping that is not what its own hash is of; told by object_open */
    bool universal;                     /* more than one slice: these are the facts of one of them */
    char arch[MIRE_OBJECT_ARCH];        /* "other" if it is none we know */
    uint8_t alt_id[MIRE_OBJECT_ID_MAX]; /* build id of the file that DW_FORM_..._alt means, by .gnu_debugaltlink */
    size_t alt_id_len;                  /* 0: none */
    char alt_name[MIRE_OBJECT_ALT];     /* of that file, without folders, cut; any bytes */
    char link[MIRE_OBJECT_LINK];        /* file that has this one's DWARF, by .gnu_debuglink; "": none is told */
    uint32_t link_crc;                  /* its CRC-32 */
};

/*
 * Look at a file without trusting it; nothing is decompressed.
 *
 *   file  pads are not needed
 *   id    of a universal file the slice with this UUID is meant; id_len 0: the first slice
 *
 * Returns NULL, or what is wrong with it (static): not an object file, big endian, a table outside the file, ...
 */
const char *object_look(struct object_facts *out, const void *bytes, size_t len, const uint8_t *id, size_t id_len);

/* Could a file that begins like this be one that object_look reads? For the first bytes of a longer one. */
bool object_begins(const void *bytes, size_t len);

/*
 * Where slice `number` of a file lies: each architecture of a universal file, any other file itself as number 0.
 *
 * Returns false if there is no such slice, or it lies outside the file.
 */
bool object_slice(uint64_t *at_out, uint64_t *len_out, const void *bytes, size_t len, size_t number);

/*
 * What Apple's tools call the architecture of a Mach-O file that is not universal: "arm64e", "x86_64h", "armv7s", ...
 *
 * Returns a static text; "" if it is another file, or none that has a name.
 */
const char *object_slice_arch(const void *bytes, size_t len);

struct object {
    struct object_facts facts;
    struct file_bytes file; /* borrowed */
    struct section sections[MIRE_SECTION_COUNT];
    struct section text;  /* of a text file: its lines, each ended by a NUL */
    bool split;           /* the sections are those of a split file: .debug_info.dwo and so on */
    uint64_t dwarf_bytes; /* of all sections of DWARF, decompressed, also of those that are not read */

    struct code *code; /* by address, none touching another */
    size_t code_count;

    struct symbol *symbols; /* in the file's order; one without a size reaches to the end of its section */
    size_t symbol_count;
    struct section go;     /* Go's own table of functions and lines (.gopclntab); no bytes: the file has none */
    uint64_t go_address;   /* of that table */
    uint64_t go_text;      /* of the section of code that is not the linker's own (.text) */
    struct loaded *loaded; /* of a file with that table */
    size_t loaded_count;

    struct mapped_object *mapped;
    size_t mapped_count;
    struct mapped_function *functions;

    struct hidden *hidden; /* the map of its names (hidden.h); NULL: it has none */

    struct symbol *frames; /* the functions of the unwind table, without names */
    size_t frame_count;

    void *held[MIRE_SECTION_COUNT + 2]; /* what was decompressed: object_close gives it back */
    size_t held_bytes[MIRE_SECTION_COUNT + 2];
    size_t held_count;
};

/*
 * Open a file for reading.
 *
 *   file     borrowed until object_close
 *   id       as in object_look
 *   threads  that may decompress, 1..
 *
 * Returns NULL, or what is wrong with the file (static).
 */
const char *object_open(struct object **out, const struct file_bytes *file, const uint8_t *id, size_t id_len,
                        unsigned threads);

/* The same of the split units in a file of which facts.both is true. */
const char *object_open_split(struct object **out, const struct file_bytes *file, unsigned threads);

/*
 * What a file tells of the code: DWARF only if it describes values (parameters, base types), which compilers that write
 * line tables alone leave out.
 */
enum symbol_depth object_depth(const struct object *object);

void object_close(struct object *object);

/* Let go of what was read of a file that was mapped: whoever reads it again waits for it. Any thread. */
void object_rest(const struct object *object);

/* Does [low, high) lie inside one range of code? */
bool object_is_code(const struct object *object, uint64_t low, uint64_t high);

#endif
