/*
 * walk.h - a walk over a mangled name, from its beginning: what is read, and what is written of it. Inside symbols/
 * only.
 *
 * References can make a short name stand for endless text, so depth, steps and output are bounded; a walk that meets a
 * bound is cut, one that breaks the grammar is bad, and after either nothing is read or written.
 */
#ifndef MIRE_DEMANGLE_WALK_H
#define MIRE_DEMANGLE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk {
    const char *begin; /* references count from here */
    const char *at;
    const char *end;
    char *out;
    size_t len;
    size_t room;
    unsigned depth;
    unsigned steps;
    unsigned lifetimes; /* of Rust: bound by the binders around */
    bool bad;           /* no such name */
    bool cut;           /* a bound was met */
    bool silent;        /* walk without writing */
    bool value;         /* of Rust: a path here names a value, its arguments stand behind :: */
};

bool walk_stopped(const struct walk *w);

/* One level deeper; the caller takes it off w->depth again. False: stop here. */
bool walk_enter(struct walk *w);

/* Write. */
void walk_bytes(struct walk *w, const char *text, size_t len);
void walk_put(struct walk *w, const char *text);
void walk_number(struct walk *w, uint64_t value);

/* The next character, not passed; '\0' where the walk ends. */
char walk_peek(const struct walk *w);

/* The next character, which must be there; the next one if it is `c`. */
char walk_next(struct walk *w);
bool walk_take(struct walk *w, char c);

#endif
