/*
 * rust_walk.h - elements of Rust's version 0 mangling: numbers to the base 62, identifiers, references. Internal to
 * demangle/.
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

/* Read a number: "_" is 0, "0_" 1, "Z_" 62. An announced number is 0 without its letter, otherwise one more than
 * written. */
uint64_t walk_base_62(struct walk *w);
uint64_t walk_announced(struct walk *w, char letter);

struct identifier walk_identifier(struct walk *w);

/* Follow the reference after a B: run `walk` at its target, then continue after the reference. */
void walk_back(struct walk *w, void (*walk)(struct walk *w));

#endif
