/*
 * walk.h - a cursor over a mangled name, and its readable output. Internal to demangle/.
 *
 * References may make a short name expand without end, so depth, steps and output are limited. A walk that reaches a
 * limit is cut, and one that breaks the grammar is bad. After either it neither reads nor writes.
 */
#ifndef MIRE_DEMANGLE_WALK_H
#define MIRE_DEMANGLE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk {
    const char *begin; /* base of references */
    const char *at;
    const char *end;
    char *out;
    size_t len;
    size_t room;
    unsigned depth;
    unsigned steps;
    unsigned lifetimes; /* of Rust: lifetimes bound by enclosing binders */
    bool bad;           /* no valid name */
    bool cut;           /* a limit was reached */
    bool silent;        /* read without writing */
    bool value;         /* of Rust: the path names a value, so its arguments follow :: */
};

bool walk_stopped(const struct walk *w);

/* Enter one level; the caller decrements w->depth afterwards. Returns false if the walk must stop. */
bool walk_enter(struct walk *w);

/* Write text. */
void walk_bytes(struct walk *w, const char *text, size_t len);
void walk_put(struct walk *w, const char *text);
void walk_number(struct walk *w, uint64_t value);

/* The next character, without moving; '\0' at the end. */
char walk_peek(const struct walk *w);

/* Read the next character, which must exist; or the next one only if it is `c`. */
char walk_next(struct walk *w);
bool walk_take(struct walk *w, char c);

#endif
