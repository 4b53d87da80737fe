/*
 * contents_inside.h - what the child does for contents.h. Inside symbols/ only.
 *
 *     out file    [ member ][ member ]... [ row of each item ][ struct contents_end ]
 */
#ifndef MIRE_SYMBOLS_CONTENTS_INSIDE_H
#define MIRE_SYMBOLS_CONTENTS_INSIDE_H

#include "symbols/contents.h"

struct contents_end {
    char magic[8];
    uint64_t count;
    struct contents_version version;
};

/*
 * Unpack the archive `in` into `out`, and write down what is in it.
 *
 *   why  room for MIRE_SYMBOL_WHY bytes: what is wrong with it
 *
 * Returns false if it holds nothing that could be kept.
 */
bool contents_unpack(char *why, int out, int in);

/* Add what one file holds, `len` bytes that lie at `at` of the contents' file. Returns NULL or what is wrong. */
const char *contents_add(struct contents *contents, const uint8_t *bytes, uint64_t at, uint64_t len, const char *name);

#endif
