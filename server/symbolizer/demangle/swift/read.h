/*
 * read.h - reads a mangled name: the bytes, the stack, and the operators by topic. Internal to swift/.
 *
 * An operator takes its operands from the stack and returns a node, which the caller pushes. NULL: the name is invalid.
 */
#ifndef MIRE_DEMANGLE_SWIFT_READ_H
#define MIRE_DEMANGLE_SWIFT_READ_H

#include "demangle/swift/node.h"

#define MIRE_SWIFT_REPEAT_MAX 2048 /* limit of repetitions of a substitution, as in Swift's demangler */

/* Read the next byte, or look at it; '\0' at the end. */
char swift_next(struct swift *s);
char swift_peek(const struct swift *s);

/* Skip the next byte if it is `c`. */
bool swift_take(struct swift *s, char c);

/* Skip the next byte if it is a letter of the table, and return its text; otherwise NULL. {0} ends the table. */
struct swift_choice {
    char letter;
    const char *text;
};
const char *swift_take_one(struct swift *s, const struct swift_choice *choices);

/* Read a number; -1: none. An index is "_" for 0, "0_" for 1. */
int swift_natural(struct swift *s);
int swift_index(struct swift *s);

bool swift_push(struct swift *s, struct swift_node *node);
struct swift_node *swift_pop_any(struct swift *s);
struct swift_node *swift_pop(struct swift *s, enum swift_kind kind); /* NULL: another kind is on top */

/* Pop a name, a module, a context, ...; inside a type node or without one. NULL: another kind is on top. */
struct swift_node *swift_pop_name(struct swift *s);
struct swift_node *swift_pop_module(struct swift *s);
struct swift_node *swift_pop_context(struct swift *s);
struct swift_node *swift_pop_entity(struct swift *s);
struct swift_node *swift_pop_inside(struct swift *s);
struct swift_node *swift_pop_nominal(struct swift *s);
struct swift_node *swift_pop_protocol(struct swift *s);
struct swift_node *swift_pop_conformance(struct swift *s);

/*
 * Pop a list whose first element is marked: "y", or A _ B C. `element` pops one element.
 */
struct swift_node *swift_pop_list(struct swift *s, enum swift_kind kind, struct swift_node *(*element)(struct swift *));
struct swift_node *swift_pop_types(struct swift *s);

/* Store a node for later substitutions; returns the node. */
struct swift_node *swift_remember(struct swift *s, struct swift_node *node);

struct swift_node *swift_identifier(struct swift *s);
struct swift_node *swift_operator_name(struct swift *s);
struct swift_node *swift_operator_of(struct swift *s, const struct swift_node *name, char fixity);
bool swift_punycode(struct swift *s, const char **out, size_t *out_len, const char *text, size_t len);
struct swift_node *swift_standard_type(struct swift *s, bool second);
struct swift_node *swift_swift_type(struct swift *s, enum swift_kind kind, const char *name);
struct swift_node *swift_builtin(struct swift *s);

/* types.c */
struct swift_node *swift_function_type(struct swift *s, enum swift_kind kind, const char *text, bool c_type);
struct swift_node *swift_tuple(struct swift *s);
struct swift_node *swift_special_type(struct swift *s);
const char *swift_representation(struct swift *s); /* of a metatype: "@thin ", ... */
struct swift_node *swift_annotation(struct swift *s);
struct swift_node *swift_protocols(struct swift *s);

/* bound.c */
bool swift_arguments(struct swift *s, struct swift_node **lists_out, struct swift_node **conformances_out);
struct swift_node *swift_bound(struct swift *s);

/* impl.c */
struct swift_node *swift_impl_function(struct swift *s);
struct swift_node *swift_c_type(struct swift *s);

/* generics.c */
struct swift_node *swift_parameter(struct swift *s, int depth, int index);
struct swift_node *swift_parameter_index(struct swift *s);
struct swift_node *swift_signature(struct swift *s, bool counts);
struct swift_node *swift_requirement(struct swift *s);
struct swift_node *swift_archetype(struct swift *s);
struct swift_node *swift_pop_associated(struct swift *s);
struct swift_node *swift_pop_associated_path(struct swift *s);
struct swift_node *swift_conformance_operator(struct swift *s);
struct swift_node *swift_retroactive(struct swift *s);

/* entities.c */
struct swift_node *swift_function(struct swift *s);
struct swift_node *swift_variable(struct swift *s);
struct swift_node *swift_subscript(struct swift *s);
struct swift_node *swift_part(struct swift *s);
struct swift_node *swift_extension(struct swift *s);
struct swift_node *swift_local_name(struct swift *s);
struct swift_node *swift_any_type(struct swift *s, enum swift_kind kind);
struct swift_node *swift_labels(struct swift *s, struct swift_node *type);

/* thunks.c, witness.c, special.c, derivative.c */
struct swift_node *swift_thunk(struct swift *s);
struct swift_node *swift_metadata(struct swift *s);
struct swift_node *swift_witness(struct swift *s);
struct swift_node *swift_value_witness(struct swift *s);
struct swift_node *swift_specialization(struct swift *s, char letter);
struct swift_node *swift_derivative(struct swift *s);
struct swift_node *swift_derivative_witness(struct swift *s);

/* old.c: read a complete name of Swift 3, after _T. */
struct swift_node *swift_old(struct swift *s);

/* print.c: returns false if a limit was reached. */
bool swift_print(char *out, size_t room, size_t *len_out, struct swift *s, struct swift_node *node,
                 enum swift_style style);

/* Returns true for an attribute of the function, which is written before the next node on the stack. */
bool swift_is_attribute(const struct swift_node *node);

/* read.c: read a name inside a name, as swift_demangle writes it; NULL: not a name. */
struct swift_node *swift_nested(struct swift *s, const char *text, size_t len);

#endif
