/*
 * parts.h - how the readers of the formats fill a struct object. Inside object/ only.
 */
#ifndef MIRE_OBJECT_PARTS_H
#define MIRE_OBJECT_PARTS_H

#include "object/object.h"
#include "object/text.h"

struct packed { /* one section to decompress */
    enum section_name name;
    bool zstd; /* else zlib */
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

struct split_parts { /* of a split file, as they lie in it */
    struct section info;
    struct section abbrev;
    struct section index;    /* of a package */
    struct packed packed[3]; /* those that are compressed */
    size_t packed_count;
};

/* A file while it is read: the object it becomes, and lists that still grow. */
struct parts {
    struct object *object; /* NULL: only look at it */
    struct object_facts facts;
    bool hidden;     /* it was found in another one */
    bool want_split; /* of a file with both kinds of DWARF the split one counts */
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

/* Does [at, at + size) lie in the file? */
static inline bool parts_hold(const struct parts *parts, uint64_t at, uint64_t size)
{
    return at <= parts->len && size <= parts->len - at;
}

/* Each returns NULL or what is wrong. parts->object is filled if it is not NULL, parts->facts always. */
const char *elf_read(struct parts *parts);
const char *macho_read(struct parts *parts, const uint8_t *id, size_t id_len);

/* Bytes of slice `number` of a universal file; false: there is none, or it lies outside the file or over others. */
bool macho_slice(struct parts *out, const struct parts *file, size_t number);

const char *breakpad_read(struct parts *parts);
const char *mapping_read(struct parts *parts);

bool parts_are_breakpad(const uint8_t *bytes, size_t len);
bool parts_are_mapping(const uint8_t *bytes, size_t len);
bool parts_are_elf(const uint8_t *bytes, size_t len);
bool parts_are_macho(const uint8_t *bytes, size_t len);
bool parts_are_universal(const uint8_t *bytes, size_t len);

/* The functions of an .eh_frame section that is loaded at `address`. Damage ends it. False: out of memory. */
bool eh_frame_read(struct symbol_list *out, const struct section *section, uint64_t address, unsigned address_size);

/* A section of notes: the build id among them. */
void notes_read(struct object_facts *facts, const uint8_t *at, uint64_t size);

/* The sections that name the file which has the DWARF, and the one of dwz. What makes no sense is passed over. */
void debuglink_read(struct object_facts *facts, const uint8_t *bytes, size_t size);
void altlink_read(struct object_facts *facts, const uint8_t *bytes, size_t size);

/* Is the first unit of these entries one of DWARF 5 that describes a type? */
bool split_begins_with_type(const uint8_t *bytes, size_t len);

/* The id of a split file. False: it has none that can be found. */
bool split_id(struct object_facts *facts, const struct split_parts *parts);

/*
 * Decompress all of parts->packed into memory the object owns, by up to `threads` threads.
 *
 * Returns NULL or what is wrong.
 */
const char *inflate_all(struct parts *parts, unsigned threads);

/*
 * Decompress what tells a split file's id; split_deflate gives the memory back, and is called whatever this returned.
 *
 * Returns NULL or what is wrong.
 */
const char *split_inflate(struct split_parts *split);
void split_deflate(struct split_parts *split);

/* Bytes of the mark that some editors put in front of UTF-8; 0 without one. */
static inline size_t text_mark(const uint8_t *bytes, size_t len)
{
    return len >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;
}

/* Give a text file's object its lines: a copy, in which line ends are NULs. Returns NULL or what is wrong. */
const char *text_hold(struct parts *parts);

/*
 * Symbols of the small ELF file in a .gnu_debugdata section (xz). What is damaged there is passed over: the file is
 * good without it.
 */
void hidden_read(struct parts *parts, const uint8_t *bytes, size_t len);

#endif
