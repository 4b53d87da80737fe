/*
 * old.h - functions shared by the readers of Swift 3 names. Internal to swift/.
 */
#ifndef MIRE_DEMANGLE_SWIFT_OLD_H
#define MIRE_DEMANGLE_SWIFT_OLD_H

#include "demangle/swift/read.h"

struct old {
    struct swift *s;
    unsigned depth;
};

/* Read the next type; NULL: none. (old_types.c) */
struct swift_node *swift_old_type(struct old *o);

/* Parts of types, contexts and protocols. (old_types.c) */
struct swift_node *swift_old_name(struct old *o);
struct swift_node *swift_old_substitution(struct old *o); /* after S */
struct swift_node *swift_old_context(struct old *o);
struct swift_node *swift_old_protocol(struct old *o);
struct swift_node *swift_old_nominal(struct old *o, enum swift_kind kind); /* a type declared in a context */

/* Read the next function, variable or nominal type; NULL: none. (old.c) */
struct swift_node *swift_old_entity(struct old *o);

/* x, or after q: a generic parameter. After w or W: a member type of one. (old_generic.c) */
struct swift_node *swift_old_parameter(struct old *o);
struct swift_node *swift_old_member(struct old *o, bool compound);

/* A generic signature: number of parameters, and requirements. (old_generic.c) */
struct swift_node *swift_old_signature(struct old *o);

/* After u: requirements of generic parameters, and a type with them. (old_generic.c) */
struct swift_node *swift_old_generic(struct old *o);

/* After TS: types or arguments that the next function was specialized for. (old_generic.c) */
struct swift_node *swift_old_specialization(struct old *o);

/* After XF: a function type of the intermediate language (SIL). (old_impl.c) */
struct swift_node *swift_old_impl(struct old *o);

/* After TR: a thunk between two such types with other calling conventions. (old_impl.c) */
struct swift_node *swift_old_reabstraction(struct old *o, const char *text);

#endif
