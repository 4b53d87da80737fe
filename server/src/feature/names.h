/*
 * names.h - function names without the parts that a compiler or a process counts.
 *
 *     com.shop.Cart.lambda$add$3              com.shop.Cart.lambda$add
 *     shop::Cache<Order>::load(Order const&)  shop::Cache<>::load
 *     parse.part.0                            parse            (shown so, too)
 *     -[NSKVONotifying_Cart add:]             -[Cart add:]
 *
 * The next build, or the next process, counts otherwise: such a part in a key makes one trouble two issues. All rules
 * stand in one table (names_table.c). Each row has a pattern, its replacement, the reason for people, and an example
 * that the unit test runs. Raise MIRE_NAMES_VERSION when answers change; the documents say which version and row.
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
 * Everything else is compared as it is. Rules are tried from left to right, at one place in the order of the table; the
 * text that a rule has replaced is not looked at again. Pure; any thread.
 */
#ifndef MIRE_FEATURE_NAMES_H
#define MIRE_FEATURE_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_NAMES_PACK    "names" /* as documents call the table, beside the packs of rules */
#define MIRE_NAMES_VERSION 2
#define MIRE_NAMES_RULES   4    /* of one name that are kept, the first */
#define MIRE_NAMES_MAX     4096 /* bytes of what a name becomes; one of half of that stays as it is */

enum name_flags {
    NAME_MADE = 1,    /* such a function is the compiler's or a library's own code: the frame is passed over */
    NAME_HIDDEN = 2,  /* the part is of no use to a reader either: it is not shown */
    NAME_NATIVE = 4,  /* not behind a name with dots in it, as Java's and Go's have */
    NAME_GO = 8,      /* only of Go */
    NAME_LIBC = 16,   /* only of names that begin with two underscores */
    NAME_ARGS = 32,   /* only behind an identifier, and outside the list of parameters */
    NAME_BEHIND = 64, /* only behind an identifier or a bracket */
    NAME_CAML = 128,  /* only of OCaml: names that begin with caml and a capital letter */
    NAME_PYX = 256,   /* only of Cython: names that begin with __pyx_p */
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
    const char *key;   /* what enters a key */
    const char *shown; /* what people read */
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
 * "std::equal<A>(A, A)". Blanks in brackets, in "operator new" and in "(anonymous namespace)" end no type.
 */
const char *name_behind_type(const char *function);

/* The same for keys of tools that have no arena: returns the length of the key's name, written to `out` with a NUL.
 * What does not fit into `room` (at least 1) is cut. */
size_t name_write(char *out, size_t room, bool *made_out, const char *function, const char *file);

#endif
