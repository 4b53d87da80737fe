/*
 * rust_walk.h - what only Rust's names of version 0 have: numbers to the base 62, identifiers, references. Inside
 * symbols/ only.
 */
#ifndef MIRE_DEMANGLE_RUST_WALK_H
#define MIRE_DEMANGLE_RUST_WALK_H

#include "demangle/walk.h"

struct identifier {
    const char *text;
    size_t len;
    bool punycode;
    uint64_t disambiguator;
};

void walk_put_identifier(struct walk *w, const struct identifier *id);

/* Numbers: "_" is 0, "0_" 1, "Z_" 62; one that a letter announces is 0 without it, else one more than written. */
uint64_t walk_base_62(struct walk *w);
uint64_t walk_announced(struct walk *w, char letter);

struct identifier walk_identifier(struct walk *w);

/* Behind a B: go where the reference points, do the walk there, and come back. */
void walk_back(struct walk *w, void (*walk)(struct walk *w));

#endif
