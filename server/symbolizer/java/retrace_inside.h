/*
 * retrace_inside.h - a mapping in memory, and as a file. Inside java/ only.
 *
 *     head     | what it is of, counts
 *     classes  | by short name: its names, which members are its own
 *     names    | numbers of classes, by name of the source
 *     members  | class by class: a row for each method, or range of lines of one, by short name, then in the mapping's
 *              | order
 *     numbers  | of a methodmap: by number
 *     texts    | the mapping's own: every name lies in it
 *
 * Names are places in the texts, so a file is mapped as it is. One that was damaged, or made to do harm, gives wrong
 * names at worst: every place is checked where it is used.
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
    struct place_of_text name; /* of the source */
    struct place_of_text short_name;
    struct place_of_text file; /* len 0: not told */
    uint32_t first;            /* of its methods */
    uint32_t count;
};

struct retrace_member {
    struct place_of_text class_name; /* len 0: the class it stands in */
    struct place_of_text name;
    struct place_of_text short_name;
    struct place_of_text signature;  /* with type, class and parameters: rows of one method have the same */
    uint32_t from, to;               /* lines of the frame, if has_lines */
    uint32_t source_from, source_to; /* of the source, if has_source */
    struct place_of_text positions;  /* of an outline's caller: {"1":4,"2":5} */
    struct place_of_text rewrite;    /* its rewriteFrame remarks, a NUL between them */
    uint32_t order;                  /* in the mapping */
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

struct retrace_head { /* as in the file */
    char magic[8];
    uint32_t version;
    uint32_t crc; /* of all that follows */
    uint32_t class_count, member_count, number_count, text_bytes;
    uint8_t methods; /* it is a methodmap */
    uint8_t changed; /* it is not what its own hash is of */
    uint8_t unused[6];
};

#define MIRE_RETRACE_MAGIC   "Mire\x7fJVM"
#define MIRE_RETRACE_VERSION 4

struct retrace {
    struct retrace_head head;
    const struct retrace_class *classes; /* by short name */
    const uint32_t *names;               /* of classes, by name of the source */
    const struct retrace_member *members;
    const struct retrace_number *numbers; /* by number */
    const char *texts;
    void *map; /* of a file; NULL: the arrays are ours, the texts are the mapping's */
    size_t map_len;
};

/* Read the lines of a mapping, or of a methodmap. False: out of memory. */
bool retrace_read_mapping(struct retrace *retrace, const struct section *text);
bool retrace_read_methods(struct retrace *retrace, const struct section *text);

/* What stands at a place; nothing where it lies outside the texts. */
static inline struct piece_of_text retrace_text(const struct retrace *retrace, const struct place_of_text *place)
{
    bool good = place->at <= retrace->head.text_bytes && place->len <= retrace->head.text_bytes - place->at;
    return (struct piece_of_text){retrace->texts + (good ? place->at : 0), good ? place->len : 0};
}

int retrace_compare(const struct piece_of_text *a, const struct piece_of_text *b);

/* By short name, by name of the source; NULL: there is none. */
const struct retrace_class *retrace_find(const struct retrace *retrace, const struct piece_of_text *short_name);
const struct retrace_class *retrace_find_named(const struct retrace *retrace, const struct piece_of_text *name);

/*
 * The value of a key in a remark; quotes of either kind or none, as R8's own tests have them. *at moves to its first
 * byte, *end behind its last: for a text without its quotes, for an object with its braces. False: there is none.
 */
bool retrace_value(const char **at, const char **end, const char *remark, const char *key);

#endif
