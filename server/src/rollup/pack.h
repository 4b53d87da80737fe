/*
 * pack.h - the bytes of rollups: numbers of seven bits a byte, low bits first, the top bit says "more". Inside rollup/
 * only.
 */
#ifndef MIRE_ROLLUP_PACK_H
#define MIRE_ROLLUP_PACK_H

#include "base/arena.h"
#include "model/sketch.h"

#include <stdbool.h>
#include <stdint.h>

struct pack_out { /* in the arena */
    struct arena *arena;
    unsigned char *bytes;
    size_t len, room;
    bool failed; /* no memory; everything after it is ignored */
};

void pack_bytes(struct pack_out *out, const void *bytes, size_t len);
void pack_number(struct pack_out *out, uint64_t value);
void pack_real(struct pack_out *out, double value); /* a whole number takes as much as pack_number */
void pack_text(struct pack_out *out, const char *text);
void pack_sketch(struct pack_out *out, const struct sketch *sketch); /* bins: each number less the one before, weight */

struct pack_in {
    struct arena *arena;
    const unsigned char *at, *end;
    bool bad; /* no such bytes, or no memory; everything after it reads as 0 */
};

/* A number; one above `most` is bad. */
uint64_t pack_get_number(struct pack_in *in, uint64_t most);
double pack_get_real(struct pack_in *in); /* finite and not negative, or bad */
const unsigned char *pack_get_bytes(struct pack_in *in, size_t len);
const char *pack_get_text(struct pack_in *in, size_t most); /* a copy; bad: "" */

/* Rows that follow, each of at least `least` bytes: no more than can be in the rest. */
size_t pack_get_count(struct pack_in *in, size_t most, size_t least);
void pack_get_sketch(struct sketch *out, struct pack_in *in);

#endif
