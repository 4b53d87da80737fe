/*
 * print.h - writes nodes as text. Internal to swift/.
 *
 * Nodes are shared, so their graph may be far larger than the name. Depth, steps and bytes are limited; after a limit
 * nothing is written.
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
    bool specialized; /* "specialized" was written */
    unsigned depth;
    unsigned steps;
};

void swift_put(struct swift_printer *p, const char *text);
void swift_put_bytes(struct swift_printer *p, const char *text, size_t len);
void swift_put_number(struct swift_printer *p, unsigned value);

/* Write the text of a node, in the current style. */
void swift_put_text(struct swift_printer *p, const struct swift_node *node);

/*
 * Write a node. In the position of a prefix ("Cart." of "Cart.add"), a node that must not be written there is returned,
 * and the caller writes it at the end: "closure #1 in Cart.add()".
 */
const struct swift_node *swift_put_prefix(struct swift_printer *p, const struct swift_node *node, bool prefix);
void swift_put_node(struct swift_printer *p, const struct swift_node *node);

/* Write the children from `first` on. */
void swift_put_kids(struct swift_printer *p, const struct swift_node *node, size_t first, const char *between);

/* print_entity.c: returns true if the node is an entity; *behind_out as the result of swift_put_prefix. */
bool swift_put_entity(const struct swift_node **behind_out, struct swift_printer *p, const struct swift_node *node,
                      bool prefix);

/* print_function.c: write a function's type, with labels before its arguments; NULL: without labels. */
void swift_put_function(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *function);
void swift_put_arguments(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *arguments);
void swift_put_impl(struct swift_printer *p, const struct swift_node *function);

/* print_types.c: returns true if the node is a type. */
bool swift_put_type(struct swift_printer *p, const struct swift_node *node);

#endif
