/*
 * old.h - what the readers of Swift 3's names share. Inside swift/ only.
 */
#ifndef MIRE_DEMANGLE_SWIFT_OLD_H
#define MIRE_DEMANGLE_SWIFT_OLD_H

#include "demangle/swift/read.h"

struct old {
    struct swift *s;
    unsigned depth;
};

/* The next type; NULL: there is none. (old.c) */
struct swift_node *swift_old_type(struct old *o);

/* Parts that types, contexts and protocols are made of. (old.c) */
struct swift_node *swift_old_name(struct old *o);
struct swift_node *swift_old_substitution(struct old *o); /* behind S */
struct swift_node *swift_old_context(struct old *o);
struct swift_node *swift_old_protocol(struct old *o);

/* x, or behind q: a generic parameter. Behind w, or W: a type that belongs to one. (old_generic.c) */
struct swift_node *swift_old_parameter(struct old *o);
struct swift_node *swift_old_member(struct old *o, bool compound);

/* Of generic parameters: how many there are, and what is required of them. (old_generic.c) */
struct swift_node *swift_old_signature(struct old *o);

/* Behind u: what is required of generic parameters, and a type with them. (old_generic.c) */
struct swift_node *swift_old_generic(struct old *o);

/* Behind TS: which types or arguments the function behind it was copied for. (old_generic.c) */
struct swift_node *swift_old_specialization(struct old *o);

/* Behind XF: a function type of the intermediate language. (old_impl.c) */
struct swift_node *swift_old_impl(struct old *o);

/* Behind TR: a thunk that hands values over in another way, from one such type to another. (old_impl.c) */
struct swift_node *swift_old_reabstraction(struct old *o, const char *text);

#endif
