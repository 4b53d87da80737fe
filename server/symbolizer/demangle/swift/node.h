/*
 * node.h - what a mangled name of Swift's is made of, and the state of reading one. Inside swift/ only.
 *
 * Nodes lie in an arena and may be shared; they are only changed by whoever has just made them. Every function that
 * makes or takes a node gives NULL when something is not as it should be, and passes on a NULL it is given: a name is
 * good or bad as a whole.
 */
#ifndef MIRE_DEMANGLE_SWIFT_NODE_H
#define MIRE_DEMANGLE_SWIFT_NODE_H

#include "demangle/swift/swift.h"

#include "base/arena.h"

#include <stdint.h>

enum swift_kind {
    /* names: text, or a discriminator and the name */
    SWIFT_IDENTIFIER,
    SWIFT_OPERATOR, /* behind its text: infix, prefix, postfix */
    SWIFT_LOCAL_NAME,
    SWIFT_PRIVATE_NAME,
    SWIFT_RELATED_NAME,
    SWIFT_MODULE,
    /* what only means something to the operator behind it */
    SWIFT_EMPTY_LIST,
    SWIFT_FIRST_ELEMENT,
    SWIFT_VARIADIC,
    SWIFT_CONFORMANCE_REF,
    SWIFT_CONFORMANCE_ARGUMENT,
    SWIFT_RETROACTIVE,
    /* of function types; in this order they are popped, and stand in front of the arguments */
    SWIFT_C_TYPE,
    SWIFT_SENDING_RESULT,
    SWIFT_ISOLATION, /* text, and the actor if it is a global one */
    SWIFT_DIFFERENTIABLE,
    SWIFT_THROWS, /* and the type, if told */
    SWIFT_SENDABLE,
    SWIFT_ASYNC,
    SWIFT_ARGUMENTS,
    SWIFT_RETURNS,
    /* types */
    SWIFT_TYPE, /* around each of them */
    SWIFT_CLASS,
    SWIFT_STRUCTURE,
    SWIFT_ENUM,
    SWIFT_PROTOCOL,
    SWIFT_ALIAS,
    SWIFT_OTHER_NOMINAL,
    SWIFT_BOUND,          /* type, arguments; maybe a conformance */
    SWIFT_BOUND_FUNCTION, /* likewise */
    SWIFT_BUILTIN,
    SWIFT_FUNCTION_TYPE, /* text: what stands in front */
    SWIFT_NOESCAPE_TYPE,
    SWIFT_SPECIAL_FUNCTION_TYPE, /* not written behind a name like a function's own type */
    SWIFT_TUPLE,
    SWIFT_ELEMENT,
    SWIFT_ELEMENT_NAME,
    SWIFT_TYPE_LIST,
    SWIFT_INOUT,
    SWIFT_MODIFIED, /* text and a type */
    SWIFT_METATYPE,
    SWIFT_EXISTENTIAL_METATYPE,
    SWIFT_PROTOCOL_LIST,
    SWIFT_PROTOCOLS_AND_CLASS,
    SWIFT_PROTOCOLS_AND_OBJECT,
    SWIFT_CONSTRAINED,
    SWIFT_FIXED_TEXT, /* a type that is one word */
    SWIFT_PARAMETER,  /* index: depth << 16 | index */
    SWIFT_MEMBER,
    SWIFT_ASSOCIATED_REF,
    SWIFT_ASSOCIATED_TYPE,
    SWIFT_GENERIC_TYPE,
    SWIFT_OPAQUE_OF,
    SWIFT_OPAQUE_TYPE,
    SWIFT_PACK,
    SWIFT_BOX,
    SWIFT_IMPL_FUNCTION,
    SWIFT_IMPL_WORD,
    SWIFT_IMPL_PARAMETER,
    SWIFT_IMPL_RESULT,
    SWIFT_IMPL_PATTERN,
    SWIFT_IMPL_INVOCATION,
    SWIFT_IMPL_SENDING,
    SWIFT_LABELS,
    /* generic signatures: counts, then requirements */
    SWIFT_SIGNATURE,
    SWIFT_COUNT,
    SWIFT_REQUIREMENT, /* left and right, text between */
    SWIFT_LAYOUT,
    SWIFT_PACK_MARKER,
    SWIFT_VALUE_MARKER,
    /* entities: context, name, labels, type */
    SWIFT_FUNCTION,
    SWIFT_VARIABLE,
    SWIFT_SUBSCRIPT,
    SWIFT_ACCESSOR,    /* text, of a variable or subscript */
    SWIFT_INITIALIZER, /* text */
    SWIFT_PART,        /* text, of a context: deinit, variable initialization expression, ... */
    SWIFT_PART_OF,     /* the same, followed by "of" */
    SWIFT_CLOSURE,     /* text; context, type */
    SWIFT_PARAMETER_DECL,
    SWIFT_MACRO,
    SWIFT_EXPANSION, /* of a macro: text; context, name */
    SWIFT_EXTENSION,
    SWIFT_STATIC,
    SWIFT_ANONYMOUS,
    SWIFT_CONFORMANCE,
    /* what stands around them */
    SWIFT_ATTRIBUTE,      /* of the function written behind it: text, or `brief` in short style */
    SWIFT_RESUME,         /* likewise, with a number in front */
    SWIFT_PARTIAL,        /* partial apply: what follows is its child */
    SWIFT_SPECIALIZATION, /* likewise */
    SWIFT_PREFIXED,       /* text, then its children */
    SWIFT_JOINED,         /* its children, texts among them, one behind the other */
    SWIFT_TEXT,
    SWIFT_THUNK,
    SWIFT_WITNESS_WORD,
    SWIFT_DERIVATIVE,
    SWIFT_LIST, /* of names, in parentheses unless it is one */
    SWIFT_MANGLING,
    SWIFT_SUFFIX,
    SWIFT_ALL
};

struct swift_node {
    enum swift_kind kind;
    uint32_t index;
    const char *text; /* `len` bytes; of the name, the arena or static */
    size_t len;
    const char *brief; /* instead of text in short style, NULL: the same */
    struct swift_node **kids;
    size_t count;
    size_t room;
};

struct swift {
    struct arena arena;
    const char *text;
    size_t len;
    size_t at;
    bool labels_in_types;     /* Swift 4.0 */
    bool failed;              /* a bound was met */
    unsigned depth;           /* of names inside names */
    struct swift_node *stack; /* its kids */
    struct swift_node *substitutions;
    struct {
        const char *text;
        size_t len;
    } words[26];
    size_t word_count;
};

/* Make nodes. The text of swift_word is static. */
struct swift_node *swift_node(struct swift *s, enum swift_kind kind);
struct swift_node *swift_word(struct swift *s, enum swift_kind kind, const char *text);
struct swift_node *swift_indexed(struct swift *s, enum swift_kind kind, const char *text, int index);
struct swift_node *swift_of(struct swift *s, enum swift_kind kind, struct swift_node *a);
struct swift_node *swift_of_2(struct swift *s, enum swift_kind kind, struct swift_node *a, struct swift_node *b);
struct swift_node *swift_of_3(struct swift *s, enum swift_kind kind, struct swift_node *a, struct swift_node *b,
                              struct swift_node *c);
struct swift_node *swift_joined(struct swift *s, struct swift_node *const *kids, size_t count);
struct swift_node *swift_type(struct swift *s, struct swift_node *inside);
struct swift_node *swift_text(struct swift *s, const char *text);
struct swift_node *swift_renamed(struct swift *s, enum swift_kind kind, const struct swift_node *like); /* its text */

/* Add a child that must be there; swift_add_any: one that may be NULL. They give `to`, or NULL. */
struct swift_node *swift_add(struct swift *s, struct swift_node *to, struct swift_node *kid);
struct swift_node *swift_add_any(struct swift *s, struct swift_node *to, struct swift_node *kid);
void swift_reverse(struct swift_node *node, size_t from);

/* The first child of a kind, NULL if there is none. */
struct swift_node *swift_find(const struct swift_node *node, enum swift_kind kind);

/* What is in a type; NULL of anything else. */
struct swift_node *swift_inside(struct swift_node *type);

bool swift_is(const struct swift_node *node, const char *text);

bool swift_is_context(const struct swift_node *node);
bool swift_is_nominal(const struct swift_node *node);

#endif
