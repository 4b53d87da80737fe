/*
 * thunks.c - reads compiler-generated variants of functions: thunks, forwarders, method descriptors.
 */
#include "demangle/swift/read.h"

static struct swift_node *attribute(struct swift *s, const char *text, const char *brief)
{
    struct swift_node *node = swift_word(s, SWIFT_ATTRIBUTE, text);
    if (node)
        node->brief = brief;
    return node;
}

static struct swift_node *prefixed(struct swift *s, const char *text, struct swift_node *what)
{
    return swift_add(s, swift_word(s, SWIFT_PREFIXED, text), what);
}

/* Reabstraction thunks convert between calling conventions; with_self: two types and the type of self. */
static struct swift_node *reabstraction(struct swift *s, const char *text, bool with_self)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *self = with_self ? swift_pop(s, SWIFT_TYPE) : NULL;
    struct swift_node *to = swift_pop(s, SWIFT_TYPE);
    struct swift_node *from = swift_pop(s, SWIFT_TYPE);
    struct swift_node *node = swift_add(s, swift_add(s, swift_word(s, SWIFT_THUNK, text), from), to);
    if (with_self)
        node = swift_add(s, node, self);
    return swift_add_any(s, node, signature);
}

static struct swift_node *resumed(struct swift *s, const char *text)
{
    return swift_indexed(s, SWIFT_RESUME, text, swift_index(s));
}

/* A of B */
static struct swift_node *two(struct swift *s, const char *text, struct swift_node *a, const char *between,
                              struct swift_node *b)
{
    struct swift_node *parts[] = {swift_text(s, text), a, swift_text(s, between), b};
    return swift_joined(s, parts, 4);
}

static struct swift_node *key_path(struct swift *s, char letter)
{
    const char *text = letter == 'K' ? "key path getter for " : "key path setter for ";
    if (letter == 'k' && swift_take(s, 'm'))
        text = swift_take(s, 'u') ? "key path unapplied method " : "";
    else if (letter == 'k' && swift_take(s, 'M'))
        text = swift_take(s, 'A') ? "key path applied method " : "";
    bool serialized = swift_take(s, 'q');
    struct swift_node *types = swift_node(s, SWIFT_ALL);
    for (struct swift_node *type; (type = swift_pop(s, SWIFT_TYPE));)
        types = swift_add(s, types, type);
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *of = swift_pop_any(s);
    if (!types || !types->count || !text[0])
        return NULL;
    swift_reverse(types, 0);
    struct swift_node *node = swift_add(s, prefixed(s, text, of), swift_text(s, " : "));
    node = swift_add_any(s, node, signature);
    node = swift_add(s, node, types);
    return serialized ? swift_add(s, node, swift_text(s, ", serialized")) : node;
}

static struct swift_node *key_path_index(struct swift *s, const char *text)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    bool serialized = swift_take(s, 'q');
    struct swift_node *types = swift_node(s, SWIFT_TYPE_LIST);
    for (struct swift_node *type; (type = swift_pop(s, SWIFT_TYPE));)
        types = swift_add(s, types, type);
    if (!types || !types->count)
        return NULL;
    swift_reverse(types, 0);
    struct swift_node *parts[] = {swift_text(s, text), signature ? signature : swift_text(s, ""), swift_text(s, "("),
                                  types, swift_text(s, serialized ? ")serialized" : ")")};
    return swift_joined(s, parts, 5);
}

/* The conformance of a protocol's associated type to a requirement. */
static struct swift_node *associated_conformance(struct swift *s, const char *text)
{
    struct swift_node *requirement = swift_pop_protocol(s);
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    bool parameter = type && type->kids[0]->kind != SWIFT_PROTOCOL;
    if (type && !parameter && !swift_push(s, type))
        return NULL;
    struct swift_node *path = parameter ? type : swift_pop_associated_path(s);
    struct swift_node *protocol = swift_pop(s, SWIFT_TYPE);
    struct swift_node *parts[] = {swift_text(s, text), protocol,   swift_text(s, "."), path,
                                  swift_text(s, ": "), requirement};
    return swift_joined(s, parts, 6);
}

static struct swift_node *outlined_variable(struct swift *s)
{
    int index = swift_index(s);
    const char *what = swift_take(s, 'r') ? "read-only object" : "variable";
    char *text = index >= 0 ? arena_printf(&s->arena, "outlined %s #%d of ", what, index) : NULL;
    return text ? attribute(s, text, NULL) : NULL;
}

static struct swift_node *outlined_method(struct swift *s)
{
    size_t from = s->at;
    while (swift_peek(s) && swift_peek(s) != '_') {
        char letter = swift_next(s);
        bool kind = s->at == from + 1 && (letter == 'm' || letter == 'a' || letter == 'p');
        if (!kind && letter != 'b' && letter != 'n' && letter != 'o' && letter != 'g')
            return NULL;
    }
    char *text = arena_printf(&s->arena, "outlined bridged method (%.*s) of ", (int)(s->at - from), s->text + from);
    return text && swift_take(s, '_') ? attribute(s, text, NULL) : NULL;
}

static struct swift_node *completion(struct swift *s, bool predefined)
{
    if (swift_index(s) < 0)
        return NULL;
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *result = swift_pop(s, SWIFT_TYPE);
    struct swift_node *function = swift_pop(s, SWIFT_TYPE);
    struct swift_node *parts[] = {
        swift_text(s, predefined ? "predefined @objc completion handler block implementation for "
                                 : "@objc completion handler block implementation for "),
        signature ? signature : swift_text(s, ""), function, swift_text(s, " with result type "), result};
    return swift_joined(s, parts, 5);
}

/* After Tw. */
static struct swift_node *whole(struct swift *s)
{
    switch (swift_next(s)) {
    case 'b':
        return attribute(s, "back deployment thunk for ", "");
    case 'B':
        return attribute(s, "back deployment fallback for ", NULL);
    case 'c':
        return attribute(s, "coro function pointer to ", NULL);
    case 'd':
        return attribute(s, "default override of ", NULL);
    case 'S':
        return attribute(s, "#_hasSymbol query for ", NULL);
    default:
        return NULL;
    }
}

static struct swift_node *overriding(struct swift *s)
{
    struct swift_node *base = swift_pop_entity(s);
    struct swift_node *derived = swift_pop_entity(s);
    return two(s, "vtable thunk for ", base, " dispatching to ", derived);
}

static struct swift_node *protocol_witness(struct swift *s)
{
    struct swift_node *entity = swift_pop_entity(s);
    return two(s, "protocol witness for ", entity, " in conformance ", swift_pop_conformance(s));
}

static const struct {
    char letter;
    const char *text;
    const char *brief; /* NULL: the same */
} attributes[] = {
    {'o', "@objc ", NULL},
    {'O', "@nonobjc ", NULL},
    {'D', "dynamic ", NULL},
    {'d', "super ", NULL},
    {'m', "merged ", ""},
    {'E', "distributed thunk ", ""},
    {'F', "distributed accessor for ", ""},
    {'X', "dynamically replaceable variable for ", ""},
    {'x', "dynamically replaceable key for ", ""},
    {'I', "dynamically replaceable thunk for ", ""},
    {'u', "async function pointer to ", NULL},
};

struct swift_node *swift_thunk(struct swift *s)
{
    struct swift_node *type;
    char letter = swift_next(s);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].letter == letter)
            return attribute(s, attributes[i].text, attributes[i].brief);
    switch (letter) {
    case 'A':
        type = swift_word(s, SWIFT_PARTIAL, "partial apply forwarder");
        if (type)
            type->brief = "partial apply";
        return type;
    case 'a':
        type = swift_word(s, SWIFT_PARTIAL, "partial apply ObjC forwarder");
        if (type)
            type->brief = "partial apply";
        return type;
    case 'Q':
        return resumed(s, "await resume partial function for ");
    case 'Y':
        return resumed(s, "suspend resume partial function for ");
    case 'c':
        return prefixed(s, "curry thunk of ", swift_pop_entity(s));
    case 'j':
        return prefixed(s, "dispatch thunk of ", swift_pop_entity(s));
    case 'q':
        return prefixed(s, "method descriptor for ", swift_pop_entity(s));
    case 'C':
        return prefixed(s, "coroutine continuation prototype for ", swift_pop(s, SWIFT_TYPE));
    case 'z':
    case 'Z':
        return completion(s, letter == 'Z');
    case 'V':
        return overriding(s);
    case 'W':
        return protocol_witness(s);
    case 'S':
        return prefixed(s, "protocol self-conformance witness for ", swift_pop_entity(s));
    case 'R':
        return reabstraction(s, "reabstraction thunk helper ", false);
    case 'r':
        return reabstraction(s, "reabstraction thunk ", false);
    case 'y':
        return reabstraction(s, "reabstraction thunk helper ", true);
    case 'U':
        type = swift_pop(s, SWIFT_TYPE);
        return two(s, "", swift_pop_any(s), " with global actor constraint ", type);
    case 'K':
    case 'k':
        return key_path(s, letter);
    case 'H':
        return key_path_index(s, "key path index equality operator for ");
    case 'h':
        return key_path_index(s, "key path index hash operator for ");
    case 'l':
        return prefixed(s, "associated type descriptor for ", swift_pop_associated(s));
    case 'L':
        return prefixed(s, "protocol requirements base descriptor for ", swift_pop_protocol(s));
    case 'M':
        return prefixed(s, "default associated type metadata accessor for ", swift_pop_associated(s));
    case 'n':
        return associated_conformance(s, "associated conformance descriptor for ");
    case 'N':
        return associated_conformance(s, "default associated conformance accessor for ");
    case 'b':
        type = swift_pop_protocol(s);
        return two(s, "base conformance descriptor for ", swift_pop(s, SWIFT_TYPE), ": ", type);
    case 'v':
        return outlined_variable(s);
    case 'e':
        return outlined_method(s);
    case 'J':
        return swift_derivative(s);
    case 'w':
        return whole(s);
    default:
        return swift_specialization(s, letter);
    }
}
