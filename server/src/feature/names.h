/*
 * names.h - function names without the parts that a compiler or a process counts.
 *
 *     com.shop.Cart.lambda$add$3              com.shop.Cart.lambda$add
 *     shop::Cache<Order>::load(Order const&)  shop::Cache<>::load
 *     parse.part.0                            parse            (shown so, too)
 *     -[NSKVONotifying_Cart add:]             -[Cart add:]
 *     operator()  of cart.cc                  operator() in cart.cc   (an inlined lambda, shown so, too)
 *
 * The next build, or the next process, counts differently: such a part in a key would make one cause two issues. All
 * rules are in one table (names_table.c). Each row has a pattern, its replacement, the reason for people, and an
 * example that the unit test runs. Raise MIRE_NAMES_VERSION when results change; the documents have the version and the
 * row.
 *
 *     pattern   stands for
 *     %d        decimal digits
 *     %x        hexadecimal digits
 *     %h        sixteen of them
 *     %n        an identifier, as short as the rest of the pattern allows; the replacement may repeat it
 *     %i        the rest of an identifier: letters, digits, _ $ - and bytes beyond ASCII; may be empty
 *     %b        everything up to the closing bracket that follows in the pattern; brackets between them come in pairs
 *     %r        the rest of the name
 *     %e        the end of an identifier
 *     %^        the beginning of the name; first in a pattern
 *     %<        the beginning, or behind a blank; first in a pattern
 *
 * All other text is compared unchanged. At each place from left to right the rules are tried in the order of the table;
 * replaced text is not tried again. Pure; any thread.
 */
#ifndef MIRE_FEATURE_NAMES_H
#define MIRE_FEATURE_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_NAMES_PACK    "names" /* as documents call the table, beside the packs of rules */
#define MIRE_NAMES_VERSION 3
#define MIRE_NAMES_RULES   4    /* kept rules of one name, the first ones */
#define MIRE_NAMES_MAX     4096 /* bytes of a rewritten name; a name of half of it stays unchanged */

enum name_flags {
    NAME_MADE = 1,    /* such a function is the compiler's or a library's own code: the frame is passed over */
    NAME_HIDDEN = 2,  /* the part is of no use to a reader either: it is not shown */
    NAME_NATIVE = 4,  /* not behind a name with dots in it, as Java's and Go's have */
    NAME_GO = 8,      /* only of Go */
    NAME_LIBC = 16,   /* only for names that begin with two underscores */
    NAME_ARGS = 32,   /* only behind an identifier, and outside the list of parameters */
    NAME_BEHIND = 64, /* only behind an identifier or a bracket */
    NAME_CAML = 128,  /* only of OCaml: names that begin with caml and a capital letter */
    NAME_PYX = 256,   /* only for Cython: names that begin with __pyx_p */
};

struct name_rule {
    const char *pattern, *with;
    unsigned flags;
    const char *reason;
    const char *example, *becomes;
};

extern const struct name_rule name_rules[];
extern const size_t name_rule_count;

struct name {
    const char *key;   /* in the key */
    const char *shown; /* for people */
    bool made;         /* the compiler's own code */
    uint8_t rule_count;
    uint8_t rules[MIRE_NAMES_RULES]; /* rows of name_rules that changed it, the first MIRE_NAMES_RULES */
};

/*
 *   function  as a symbol, a mapping or a device has it; what the answer keeps of it is borrowed
 *   file      "" if unknown
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int name_find(struct name *out, struct arena *arena, const char *function, const char *file);

/*
 * The name behind the type that a demangled template function returns: "bool std::equal<A>(A, A)" ->
 * "std::equal<A>(A, A)". Blanks in brackets, in "operator new", "decltype (...)" and "(anonymous namespace)" end no type.
 */
const char *name_behind_type(const char *function);

/* The same without an arena, for other tools: writes the name in keys to `out`, with a NUL, and returns its length. A
 * longer name is cut to `room` (at least 1). */
size_t name_write(char *out, size_t room, bool *made_out, const char *function, const char *file);

#endif
