/*
 * heap_names.h - the names that Go writes behind each sample of a heap profile in text (debug=1). Inside decode/ only.
 *
 *     #	0x4da010	main.keep+0x370		/src/app.go:18        a return address less one; calls inlined there, innermost first
 *     # LastGC = 1795757925197477756                        nanoseconds: the amounts are those of that moment
 */
#ifndef MIRE_DECODE_HEAP_NAMES_H
#define MIRE_DECODE_HEAP_NAMES_H

#include "decode/build.h"
#include "decode/lines.h"

struct heap_names {
    struct build *build;
    struct build_list rows;   /* struct heap_name, those of an address one after the other */
    struct build_table table; /* first row of an address */
    uint64_t last;            /* address of the line before; 0: it had none */
    bool known;               /* the names of `last` came with another sample already */
    uint64_t collected_ms;    /* wall time of the last collection; 0: unknown */
};

struct heap_name {
    uint64_t address;
    struct report_names names;
};

/* A line of the text: any but a sample's. */
void heap_names_take(struct heap_names *names, struct line_span line);

/* The names of a return address, innermost first; NULL: none. */
const struct heap_name *heap_names_find(size_t *count_out, const struct heap_names *names, uint64_t address);

#endif
