/*
 * spans.h - which of many address ranges, that may overlap, holds an address. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_SPANS_H
#define MIRE_SYMBOLS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t low;
    uint64_t high;  /* not in it */
    uint64_t key;   /* what it belongs to */
    uint64_t reach; /* the furthest high of this and all spans before it */
};

struct spans {
    struct span *rows;
    size_t count;
    size_t room;
};

/* Add [low, high). Empty and inverted ones are dropped. False: out of memory. */
bool spans_add(struct spans *spans, uint64_t low, uint64_t high, uint64_t key);

/* Sort; after this nothing is added. */
void spans_seal(struct spans *spans);

/*
 * Next span that holds the address, lowest key first: begin with *key = 0, go on with the key found plus one.
 * NULL: no more.
 */
const struct span *spans_find(const struct spans *spans, uint64_t address, uint64_t least_key);

void spans_fini(struct spans *spans);

#endif
