/*
 * print.h - writing nodes down. Inside swift/ only.
 *
 * Nodes are shared, so their graph may be far larger than the name: depth, steps and bytes are bounded, and once one
 * is exceeded nothing more is written.
 */
#ifndef MIRE_DEMANGLE_SWIFT_PRINT_H
#define MIRE_DEMANGLE_SWIFT_PRINT_H

#include "demangle/swift/read.h"

struct swift_printer {
    struct swift *s;
    char *out;
    size_t len;
    size_t room;
    bool brief;
    bool failed;
    bool specialized; /* that the function is so was written */
    unsigned depth;
    unsigned steps;
};

void swift_put(struct swift_printer *p, const char *text);
void swift_put_bytes(struct swift_printer *p, const char *text, size_t len);
void swift_put_number(struct swift_printer *p, unsigned value);

/* The text of a node, in the style at hand. */
void swift_put_text(struct swift_printer *p, const struct swift_node *node);

/*
 * Write a node. As the prefix of something ("Cart." of "Cart.add") what cannot stand there is not written, but given,
 * to be written behind it: "closure #1 in Cart.add()".
 */
const struct swift_node *swift_put_prefix(struct swift_printer *p, const struct swift_node *node, bool prefix);
void swift_put_node(struct swift_printer *p, const struct swift_node *node);

/* Children from `first` on. */
void swift_put_kids(struct swift_printer *p, const struct swift_node *node, size_t first, const char *between);

/* print_entity.c: whether it was one of its kinds; *behind_out as of swift_put_prefix. */
bool swift_put_entity(const struct swift_node **behind_out, struct swift_printer *p, const struct swift_node *node,
                      bool prefix);

/* print_function.c: a function's type, its arguments labelled; NULL: as they are. */
void swift_put_function(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *function);
void swift_put_arguments(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *arguments);
void swift_put_impl(struct swift_printer *p, const struct swift_node *function);

/* print_types.c: whether it was one of its kinds. */
bool swift_put_type(struct swift_printer *p, const struct swift_node *node);

#endif
