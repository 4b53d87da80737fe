/*
 * node.h - nodes of a Swift name, and the state of reading one. Internal to swift/.
 *
 * Nodes are allocated in an arena and may be shared; only the code that has just created a node changes it. A function
 * that makes or takes nodes returns NULL on any error, and also if it gets a NULL. A name is therefore valid or invalid
 * as a whole.
 */
#ifndef MIRE_DEMANGLE_SWIFT_NODE_H
#define MIRE_DEMANGLE_SWIFT_NODE_H

#include "demangle/swift/swift.h"

#include "base/arena.h"

#include <stdint.h>

enum swift_kind {
    /* names: text, or a discriminator and the name */
    SWIFT_IDENTIFIER,
    SWIFT_OPERATOR, /* after its text: infix, prefix, postfix */
    SWIFT_LOCAL_NAME,
    SWIFT_PRIVATE_NAME,
    SWIFT_RELATED_NAME,
    SWIFT_MODULE,
    /* operands that only the next operator interprets */
    SWIFT_EMPTY_LIST,
    SWIFT_FIRST_ELEMENT,
    SWIFT_VARIADIC,
    SWIFT_CONFORMANCE_REF,
    SWIFT_CONFORMANCE_ARGUMENT,
    SWIFT_RETROACTIVE,
    /* parts of function types, in the order of popping; written before the arguments */
    SWIFT_C_TYPE,
    SWIFT_SENDING_RESULT,
    SWIFT_ISOLATION, /* text, and the actor if it is a global one */
    SWIFT_DIFFERENTIABLE,
    SWIFT_THROWS, /* and the error type, if specified */
    SWIFT_SENDABLE,
    SWIFT_ASYNC,
    SWIFT_ARGUMENTS,
    SWIFT_RETURNS,
    /* types */
    SWIFT_TYPE, /* wraps each type */
    SWIFT_CLASS,
    SWIFT_STRUCTURE,
    SWIFT_ENUM,
    SWIFT_PROTOCOL,
    SWIFT_ALIAS,
    SWIFT_OTHER_NOMINAL,
    SWIFT_BOUND,          /* type, arguments; optionally a conformance */
    SWIFT_BOUND_FUNCTION, /* type, arguments; optionally a conformance */
    SWIFT_BUILTIN,
    SWIFT_FUNCTION_TYPE, /* text: prefix */
    SWIFT_NOESCAPE_TYPE,
    SWIFT_SPECIAL_FUNCTION_TYPE, /* unlike a function's own type, not written after a name */
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
    SWIFT_FIXED_TEXT, /* a type of one word */
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
    /* wrappers of entities */
    SWIFT_ATTRIBUTE,      /* of the next function: text, or `brief` in short style */
    SWIFT_RESUME,         /* of the next function, with a number in front */
    SWIFT_PARTIAL,        /* partial apply: the rest is its child */
    SWIFT_SPECIALIZATION, /* the rest is its child */
    SWIFT_PREFIXED,       /* text, then its children */
    SWIFT_JOINED,         /* its children, including texts, concatenated */
    SWIFT_TEXT,
    SWIFT_THUNK,
    SWIFT_WITNESS_WORD,
    SWIFT_DERIVATIVE,
    SWIFT_LIST, /* names, in parentheses unless it is one */
    SWIFT_MANGLING,
    SWIFT_SUFFIX,
    SWIFT_ALL
};

struct swift_node {
    enum swift_kind kind;
    uint32_t index;
    const char *text; /* `len` bytes in the name, in the arena, or static */
    size_t len;
    const char *brief; /* text in short style; NULL: the same */
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
    bool failed;              /* a limit was reached */
    unsigned depth;           /* depth of names inside names */
    struct swift_node *stack; /* the kids are the stack */
    struct swift_node *substitutions;
    struct {
        const char *text;
        size_t len;
    } words[26];
    size_t word_count;
};

/* Create nodes. The text of swift_word is static. */
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
struct swift_node *swift_renamed(struct swift *s, enum swift_kind kind, const struct swift_node *like); /* same text */

/* Add a child that must not be NULL; with swift_add_any it may be NULL. Returns `to`, or NULL. */
struct swift_node *swift_add(struct swift *s, struct swift_node *to, struct swift_node *kid);
struct swift_node *swift_add_any(struct swift *s, struct swift_node *to, struct swift_node *kid);
void swift_reverse(struct swift_node *node, size_t from);

/* The first child of a kind; NULL: none. */
struct swift_node *swift_find(const struct swift_node *node, enum swift_kind kind);

/* The node inside a type; NULL for any other node. */
struct swift_node *swift_inside(struct swift_node *type);

bool swift_is(const struct swift_node *node, const char *text);

bool swift_is_context(const struct swift_node *node);
bool swift_is_nominal(const struct swift_node *node);

#endif
