/*
 * retrace_inside.h - a mapping in memory, and as a file. Internal to java/.
 *
 *     head     | identity and counts
 *     classes  | by short name: both names, and the range of its members
 *     names    | numbers of classes, by source name
 *     members  | class by class: a row for each method, or range of lines of one, by short name, then in the mapping's
 *              | order
 *     numbers  | of a methodmap: by number
 *     texts    | the mapping's own text, which contains every name
 *
 * Names are positions in the texts, so a file is mapped without conversion. A damaged or hostile file gives wrong names
 * and nothing worse: every position is checked where it is used.
 */
#ifndef MIRE_JAVA_RETRACE_INSIDE_H
#define MIRE_JAVA_RETRACE_INSIDE_H

#include "object/object.h"
#include "java/retrace.h"

struct place_of_text {
    uint32_t at;
    uint32_t len;
};

struct piece_of_text {
    const char *at;
    uint32_t len;
};

struct retrace_class {
    struct place_of_text name; /* source name */
    struct place_of_text short_name;
    struct place_of_text file; /* len 0: not specified */
    uint32_t first;            /* first of its methods */
    uint32_t count;
};

struct retrace_member {
    struct place_of_text class_name; /* len 0: the class that contains the row */
    struct place_of_text name;
    struct place_of_text short_name;
    struct place_of_text signature;  /* with type, class and parameters; equal in all rows of a method */
    uint32_t from, to;               /* lines of the frame, if has_lines */
    uint32_t source_from, source_to; /* lines of the source, if has_source */
    struct place_of_text positions;  /* for the caller of an outline: {"1":4,"2":5} */
    struct place_of_text rewrite;    /* rewriteFrame remarks, separated by NULs */
    uint32_t order;                  /* row in the mapping */
    uint8_t has_lines;
    uint8_t has_source;
    uint8_t synthesized;
    uint8_t outline;
};

struct retrace_number { /* of a methodmap */
    uint32_t number;
    struct place_of_text class_name;
    struct place_of_text method;
};

struct retrace_head { /* layout of the file */
    char magic[8];
    uint32_t version;
    uint32_t crc; /* checksum of the rest */
    uint32_t class_count, member_count, number_count, text_bytes;
    uint8_t methods; /* 1: a methodmap */
    uint8_t changed; /* 1: does not match its own hash */
    uint8_t unused[6];
};

#define MIRE_RETRACE_MAGIC   "Mire\x7fJVM"
#define MIRE_RETRACE_VERSION 4

struct retrace {
    struct retrace_head head;
    const struct retrace_class *classes; /* by short name */
    const uint32_t *names;               /* numbers of classes, by source name */
    const struct retrace_member *members;
    const struct retrace_number *numbers; /* by number */
    const char *texts;
    void *map; /* mapped file; NULL: the arrays are allocated, the texts borrowed */
    size_t map_len;
};

/* Read the lines of a mapping, or of a methodmap. Returns false out of memory. */
bool retrace_read_mapping(struct retrace *retrace, const struct section *text);
bool retrace_read_methods(struct retrace *retrace, const struct section *text);

/* The text at a position; empty if it lies outside the texts. */
static inline struct piece_of_text retrace_text(const struct retrace *retrace, const struct place_of_text *place)
{
    bool good = place->at <= retrace->head.text_bytes && place->len <= retrace->head.text_bytes - place->at;
    return (struct piece_of_text){retrace->texts + (good ? place->at : 0), good ? place->len : 0};
}

int retrace_compare(const struct piece_of_text *a, const struct piece_of_text *b);

/* Find a class by short name, or by source name; NULL: none. */
const struct retrace_class *retrace_find(const struct retrace *retrace, const struct piece_of_text *short_name);
const struct retrace_class *retrace_find_named(const struct retrace *retrace, const struct piece_of_text *name);

/*
 * Find the value of a key in a remark. Quotes may be of either kind or missing, as in R8's own tests. *at becomes the
 * first byte of the value, *end the byte after it: of a text without its quotes, of an object with its braces. Returns
 * false if there is no such key.
 */
bool retrace_value(const char **at, const char **end, const char *remark, const char *key);

#endif
