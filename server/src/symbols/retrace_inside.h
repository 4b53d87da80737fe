/*
 * retrace_inside.h - a mapping in memory. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_RETRACE_INSIDE_H
#define MIRE_SYMBOLS_RETRACE_INSIDE_H

#include "symbols/retrace.h"

struct piece_of_text {
    const char *at;
    uint32_t len;
};

struct retrace_class {
    struct piece_of_text name; /* of the source */
    struct piece_of_text short_name;
    struct piece_of_text file; /* len 0: not told */
    uint32_t first;            /* of its methods */
    uint32_t count;
};

struct retrace_member {
    struct piece_of_text class_name; /* len 0: the class it stands in */
    struct piece_of_text name;
    struct piece_of_text short_name;
    uint32_t from, to;               /* lines of the frame; both 0: any */
    uint32_t source_from, source_to; /* of the source; 0: the frame's are the source's */
    bool synthesized;
    bool outline;
    struct piece_of_text positions; /* of a place an outline was called at: {"1":4,"2":5} */
};

struct retrace_number { /* of a methodmap */
    uint64_t number;
    struct piece_of_text class_name;
    struct piece_of_text method;
};

struct retrace {
    struct {
        struct retrace_class *rows;
        size_t count, room;
    } classes; /* by short name, once read */
    struct {
        struct retrace_member *rows;
        size_t count, room;
    } members;
    struct {
        struct retrace_number *rows;
        size_t count, room;
    } numbers; /* by number */
};

/* Read the lines of a mapping, or of a methodmap. False: out of memory. */
bool retrace_read_mapping(struct retrace *retrace, const struct section *text);
bool retrace_read_methods(struct retrace *retrace, const struct section *text);

int retrace_compare(const struct piece_of_text *a, const struct piece_of_text *b);

#endif
