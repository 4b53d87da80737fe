/*
 * conformances.c - reads how generic arguments conform to requirements. Conformances are read and not written.
 */
#include "demangle/swift/read.h"

static struct swift_node *pop_argument(struct swift *s)
{
    return swift_pop(s, SWIFT_CONFORMANCE_ARGUMENT);
}

static struct swift_node *concrete(struct swift *s)
{
    struct swift_node *conditions = swift_pop_list(s, SWIFT_LIST, pop_argument);
    struct swift_node *reference = swift_pop(s, SWIFT_CONFORMANCE_REF);
    if (!reference) { /* in another module */
        reference = swift_pop_module(s);
        reference = reference ? swift_pop_protocol(s) : NULL;
    }
    return conditions && reference ? swift_of(s, SWIFT_CONFORMANCE_ARGUMENT, swift_pop(s, SWIFT_TYPE)) : NULL;
}

/* A dependent conformance: to a requirement of another one, or of its associated type. */
static struct swift_node *dependent(struct swift *s, char letter)
{
    if (swift_index(s) < 1)
        return NULL;
    struct swift_node *protocol = swift_pop_protocol(s);
    struct swift_node *type = letter == 'I' ? protocol : swift_pop(s, SWIFT_TYPE);
    struct swift_node *base = letter == 'D' ? type : swift_pop(s, SWIFT_CONFORMANCE_ARGUMENT);
    return protocol && type ? swift_of(s, SWIFT_CONFORMANCE_ARGUMENT, base) : NULL;
}

static struct swift_node *record(struct swift *s, const char *text, struct swift_node *what)
{
    return swift_add(s, swift_word(s, SWIFT_PREFIXED, text), what);
}

struct swift_node *swift_conformance_operator(struct swift *s)
{
    char letter = swift_next(s);
    switch (letter) {
    case 'C':
        return concrete(s);
    case 'A':
    case 'D':
    case 'I':
        return dependent(s, letter);
    case 'O':
        return swift_pop(s, SWIFT_TYPE) ? swift_of(s, SWIFT_CONFORMANCE_ARGUMENT, pop_argument(s)) : NULL;
    case 'P':
    case 'p':
        return swift_of(s, SWIFT_CONFORMANCE_REF, swift_pop_protocol(s));
    case 'X':
        return swift_of(s, SWIFT_CONFORMANCE_ARGUMENT, swift_pop_list(s, SWIFT_LIST, pop_argument));
    case 'c':
        return record(s, "protocol conformance descriptor runtime record for ", swift_pop_conformance(s));
    case 'n':
        return record(s, "nominal type descriptor runtime record for ", swift_pop(s, SWIFT_TYPE));
    case 'o':
        return record(s, "opaque type descriptor runtime record for ", swift_pop_any(s));
    case 'r':
        return record(s, "protocol descriptor runtime record for ", swift_pop_protocol(s));
    case 'F': {
        struct swift_node *node = swift_word(s, SWIFT_ATTRIBUTE, "accessible function runtime record for ");
        if (node)
            node->brief = "";
        return node;
    }
    default:
        return NULL;
    }
}

struct swift_node *swift_retroactive(struct swift *s)
{
    return swift_index(s) < 0 ? NULL : swift_of(s, SWIFT_RETROACTIVE, pop_argument(s));
}
