/*
 * parts.h - state that the readers of the formats fill to make a struct object. Internal to object/.
 */
#ifndef MIRE_OBJECT_PARTS_H
#define MIRE_OBJECT_PARTS_H

#include "object/object.h"
#include "object/text.h"

struct packed { /* compressed section */
    enum section_name name;
    bool zstd; /* false: zlib */
    const uint8_t *from;
    size_t from_len;
    uint8_t *to;
    size_t to_len;
    bool failed;
};

struct symbol_list {
    struct symbol *rows;
    size_t count;
    size_t room;
};

struct code_list {
    struct code *rows;
    size_t count;
    size_t room;
};

struct mapped_list {
    struct mapped_object *rows;
    size_t count;
    size_t room;
};

struct function_list {
    struct mapped_function *rows;
    size_t count;
    size_t room;
};

struct loaded_list {
    struct loaded *rows;
    size_t count;
    size_t room;
};

struct split_parts { /* sections of a split file that determine its id */
    struct section info;
    struct section abbrev;
    struct section index;    /* of a package only */
    struct packed packed[3]; /* the compressed ones */
    size_t packed_count;
};

/* A file that is being read: the object under construction, and growing lists. */
struct parts {
    struct object *object; /* NULL: object_look */
    struct object_facts facts;
    bool hidden;     /* the file was found inside another one (.gnu_debugdata) */
    bool want_split; /* prefer split DWARF in a file with both kinds */
    const uint8_t *bytes;
    size_t len;
    struct split_parts split;
    struct packed packed[MIRE_SECTION_COUNT];
    size_t packed_count;
    struct code_list code;
    struct loaded_list loaded;
    struct mapped_list mapped;
    struct function_list functions;
    struct symbol_list symbols;
    struct symbol_list frames;
};

/* Returns true if [at, at + size) lies in the file. */
static inline bool parts_hold(const struct parts *parts, uint64_t at, uint64_t size)
{
    return at <= parts->len && size <= parts->len - at;
}

/* Each reader returns NULL or the problem. It fills parts->facts, and parts->object unless that is NULL. */
const char *elf_read(struct parts *parts);
const char *macho_read(struct parts *parts, const uint8_t *id, size_t id_len);

/* Set `out` to slice `number` of a universal file. False: no such slice, or it lies outside the file or over
 * another. */
bool macho_slice(struct parts *out, const struct parts *file, size_t number);

const char *breakpad_read(struct parts *parts);
const char *mapping_read(struct parts *parts);

bool parts_are_breakpad(const uint8_t *bytes, size_t len);
bool parts_are_mapping(const uint8_t *bytes, size_t len);
bool parts_are_elf(const uint8_t *bytes, size_t len);
bool parts_are_macho(const uint8_t *bytes, size_t len);
bool parts_are_universal(const uint8_t *bytes, size_t len);

/* Add the functions of an .eh_frame section that is loaded at `address`. Reading ends at damage. Returns false out of
 * memory. */
bool eh_frame_read(struct symbol_list *out, const struct section *section, uint64_t address, unsigned address_size);

/* Read the build id from a section of notes. */
void notes_read(struct object_facts *facts, const uint8_t *at, uint64_t size);

/* Read the sections that name the file with the DWARF (.gnu_debuglink) and the dwz file (.gnu_debugaltlink). Invalid
 * contents are ignored. */
void debuglink_read(struct object_facts *facts, const uint8_t *bytes, size_t size);
void altlink_read(struct object_facts *facts, const uint8_t *bytes, size_t size);

/* Returns true if the first unit is a DWARF 5 type unit. */
bool split_begins_with_type(const uint8_t *bytes, size_t len);

/* Set the id of a split file. Returns false if the file has no id. */
bool split_id(struct object_facts *facts, const struct split_parts *parts);

/*
 * Decompress parts->packed into memory that the object owns, with up to `threads` threads.
 *
 * Returns NULL or the problem.
 */
const char *inflate_all(struct parts *parts, unsigned threads);

/*
 * Decompress the sections that determine a split file's id. The caller frees them with split_deflate after any result.
 *
 * Returns NULL or the problem.
 */
const char *split_inflate(struct split_parts *split);
void split_deflate(struct split_parts *split);

/* Length of the byte order mark that some editors put in front of UTF-8; 0: none. */
static inline size_t text_mark(const uint8_t *bytes, size_t len)
{
    return len >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;
}

/* Copy a text file's lines into the object, with a NUL for each line end. Returns NULL or the problem. */
const char *text_hold(struct parts *parts);

/*
 * Add the symbols of the small ELF file in a .gnu_debugdata section (xz). Damage in the section is ignored; the outer
 * file is usable without it.
 */
void hidden_read(struct parts *parts, const uint8_t *bytes, size_t len);

#endif
