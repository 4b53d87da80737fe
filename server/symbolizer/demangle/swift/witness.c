/*
 * witness.c - reads metadata of types and conformances, and the compiler's data of functions.
 */
#include "demangle/swift/read.h"

enum operand { TYPE, NOMINAL, PROTOCOL, CONFORMANCE, ENTITY, ANY };

struct witness_row {
    char letter;
    uint8_t operand;
    const char *text;
};

static struct swift_node *operand_of(struct swift *s, enum operand operand)
{
    switch (operand) {
    case TYPE:
        return swift_pop(s, SWIFT_TYPE);
    case NOMINAL:
        return swift_pop_nominal(s);
    case PROTOCOL:
        return swift_pop_protocol(s);
    case CONFORMANCE:
        return swift_pop_conformance(s);
    case ENTITY:
        return swift_pop_entity(s);
    default:
        return swift_pop_any(s);
    }
}

/* The node of a letter in a table; NULL: unknown letter, or no such operand on the stack. */
static struct swift_node *of_row(struct swift *s, const struct witness_row *rows, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].letter == letter)
            return swift_add(s, swift_word(s, SWIFT_PREFIXED, rows[i].text), operand_of(s, rows[i].operand));
    return NULL;
}

static const struct witness_row metadata[] = {
    {'a', TYPE, "type metadata accessor for "},
    {'A', CONFORMANCE, "reflection metadata associated type descriptor "},
    {'b', TYPE, "canonical specialized generic type metadata accessor for "},
    {'B', TYPE, "reflection metadata builtin descriptor "},
    {'c', CONFORMANCE, "protocol conformance descriptor for "},
    {'C', NOMINAL, "reflection metadata superclass descriptor "},
    {'D', TYPE, "demangling cache variable for type metadata for "},
    {'f', TYPE, "full type metadata for "},
    {'F', TYPE, "reflection metadata field descriptor "},
    {'g', ANY, "opaque type descriptor accessor for "},
    {'h', ANY, "opaque type descriptor accessor impl for "},
    {'i', TYPE, "type metadata instantiation function for "},
    {'I', TYPE, "type metadata instantiation cache for "},
    {'j', ANY, "opaque type descriptor accessor key for "},
    {'J', ANY, "cache variable for noncanonical specialized generic type metadata for "},
    {'k', ANY, "opaque type descriptor accessor var for "},
    {'K', ANY, "metadata instantiation cache for "},
    {'l', TYPE, "type metadata singleton initialization cache for "},
    {'L', TYPE, "lazy cache variable for type metadata for "},
    {'m', TYPE, "metaclass for "},
    {'M', TYPE, "specialized generic metaclass for "},
    {'n', TYPE, "nominal type descriptor for "},
    {'N', TYPE, "noncanonical specialized generic type metadata for "},
    {'o', TYPE, "class metadata base offset for "},
    {'p', PROTOCOL, "protocol descriptor for "},
    {'P', TYPE, "generic type metadata pattern for "},
    {'q', ANY, "uniquable "},
    {'Q', ANY, "opaque type descriptor for "},
    {'r', TYPE, "type metadata completion function for "},
    {'s', TYPE, "ObjC resilient class stub for "},
    {'S', PROTOCOL, "protocol self-conformance descriptor for "},
    {'t', TYPE, "full ObjC resilient class stub for "},
    {'u', TYPE, "method lookup function for "},
    {'U', TYPE, "ObjC metadata update function for "},
    {'z', TYPE, "flag for loading of canonical specialized generic type metadata for "},
};

/* After MX. */
static struct swift_node *descriptor(struct swift *s)
{
    struct swift_node *name;
    switch (swift_next(s)) {
    case 'M':
        return swift_add(s, swift_word(s, SWIFT_PREFIXED, "module descriptor "), swift_pop_module(s));
    case 'E':
        return swift_add(s, swift_word(s, SWIFT_PREFIXED, "extension descriptor "), swift_pop_context(s));
    case 'X':
        return swift_add(s, swift_word(s, SWIFT_PREFIXED, "anonymous descriptor "), swift_pop_context(s));
    case 'Y':
        name = swift_pop_name(s);
        return name ? swift_add(s, swift_word(s, SWIFT_PREFIXED, "anonymous descriptor "), swift_pop_context(s)) : NULL;
    case 'A':
        name = swift_pop_associated_path(s);
        return swift_add(s,
                         swift_add(s, swift_word(s, SWIFT_PREFIXED, "generic parameter reference for associated type "),
                                   swift_pop(s, SWIFT_TYPE)),
                         name);
    default:
        return NULL;
    }
}

struct swift_node *swift_metadata(struct swift *s)
{
    char letter = swift_next(s);
    return letter == 'X' ? descriptor(s) : of_row(s, metadata, sizeof metadata / sizeof *metadata, letter);
}

static const struct witness_row witnesses[] = {
    {'C', ENTITY, "enum case for "},
    {'V', TYPE, "value witness table for "},
    {'S', PROTOCOL, "protocol self-conformance witness table for "},
    {'P', CONFORMANCE, "protocol witness table for "},
    {'p', CONFORMANCE, "protocol witness table pattern for "},
    {'G', CONFORMANCE, "generic protocol witness table for "},
    {'I', CONFORMANCE, "instantiation function for generic protocol witness table for "},
    {'r', CONFORMANCE, "resilient protocol witness table for "},
    {'a', CONFORMANCE, "protocol witness table accessor for "},
};

static const struct swift_choice outlined[] = {
    {'y', "outlined copy of "},
    {'e', "outlined consume of "},
    {'r', "outlined retain of "},
    {'s', "outlined release of "},
    {'b', "outlined init with take of "},
    {'B', "outlined init with take of "},
    {'c', "outlined init with copy of "},
    {'C', "outlined init with copy of "},
    {'d', "outlined assign with take of "},
    {'D', "outlined assign with take of "},
    {'f', "outlined assign with copy of "},
    {'F', "outlined assign with copy of "},
    {'h', "outlined destroy of "},
    {'H', "outlined destroy of "},
    {'i', "outlined enum tag store of "},
    {'j', "outlined enum project data for load of "},
    {'g', "outlined enum get tag of "},
    {0},
};

static struct swift_node *outline(struct swift *s)
{
    const char *text = swift_take_one(s, outlined);
    if (!text)
        return NULL;
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *node = swift_add(s, swift_word(s, SWIFT_PREFIXED, text), swift_pop(s, SWIFT_TYPE));
    return swift_add_any(s, node, signature);
}

/* Global variables that are initialized at the first use. */
static struct swift_node *once(struct swift *s, const char *text)
{
    struct swift_node *names = swift_node(s, SWIFT_LIST);
    while (swift_pop(s, SWIFT_FIRST_ELEMENT))
        names = swift_add(s, names, swift_pop_name(s));
    if (names)
        swift_reverse(names, 0);
    struct swift_node *context = swift_pop_context(s);
    struct swift_node *node = swift_word(s, SWIFT_PREFIXED, text);
    if (names && names->count > 1) {
        struct swift_node *list = swift_node(s, SWIFT_TYPE_LIST);
        for (size_t i = 0; i < names->count; i++)
            list = swift_add(s, list, names->kids[i]);
        struct swift_node *parts[] = {swift_text(s, "("), list, swift_text(s, ")")};
        names = swift_joined(s, parts, 3);
    }
    return context ? swift_add(s, node, names) : NULL;
}

static struct swift_node *lazy(struct swift *s, const char *what)
{
    struct swift_node *conformance = swift_pop_conformance(s);
    struct swift_node *parts[] = {swift_text(s, "lazy protocol witness table "),
                                  swift_text(s, what),
                                  swift_text(s, " for type "),
                                  swift_pop(s, SWIFT_TYPE),
                                  swift_text(s, " and conformance "),
                                  conformance};
    return swift_joined(s, parts, 6);
}

static struct swift_node *associated(struct swift *s, char letter)
{
    struct swift_node *last = letter == 't' ? swift_pop_name(s) : swift_pop(s, SWIFT_TYPE);
    struct swift_node *path = letter == 'T' ? swift_pop_associated_path(s) : NULL;
    struct swift_node *conformance = swift_pop_conformance(s);
    struct swift_node *three[] = {
        swift_text(s, letter == 't' ? "associated type metadata accessor for " : "base witness table accessor for "),
        last, swift_text(s, " in "), conformance};
    struct swift_node *four[] = {swift_text(s, "associated type witness table accessor for "),
                                 path,
                                 swift_text(s, " : "),
                                 last,
                                 swift_text(s, " in "),
                                 conformance};
    return letter == 'T' ? swift_joined(s, four, 6) : swift_joined(s, three, 4);
}

struct swift_node *swift_witness(struct swift *s)
{
    char letter = swift_next(s);
    switch (letter) {
    case 'v': {
        static const struct swift_choice kinds[] = {
            {'d', "direct field offset for "}, {'i', "indirect field offset for "}, {0}};
        const char *text = swift_take_one(s, kinds);
        return text ? swift_add(s, swift_word(s, SWIFT_PREFIXED, text), swift_pop_entity(s)) : NULL;
    }
    case 'l':
        return lazy(s, "accessor");
    case 'L':
        return lazy(s, "cache variable");
    case 't':
    case 'T':
    case 'b':
        return associated(s, letter);
    case 'O':
        return outline(s);
    case 'Z':
        return once(s, "one-time initialization function for ");
    case 'z':
        return once(s, "one-time initialization token for ");
    case 'J':
        return swift_derivative_witness(s);
    default:
        return of_row(s, witnesses, sizeof witnesses / sizeof *witnesses, letter);
    }
}

static const struct {
    char letters[3];
    const char *text;
} value_witnesses[] = {
    {"al", "allocateBuffer"},
    {"ca", "assignWithCopy"},
    {"ta", "assignWithTake"},
    {"de", "deallocateBuffer"},
    {"xx", "destroy"},
    {"XX", "destroyBuffer"},
    {"Xx", "destroyArray"},
    {"CP", "initializeBufferWithCopyOfBuffer"},
    {"Cp", "initializeBufferWithCopy"},
    {"cp", "initializeWithCopy"},
    {"TK", "initializeBufferWithTakeOfBuffer"},
    {"Tk", "initializeBufferWithTake"},
    {"tk", "initializeWithTake"},
    {"pr", "projectBuffer"},
    {"xs", "storeExtraInhabitant"},
    {"xg", "getExtraInhabitantIndex"},
    {"Cc", "initializeArrayWithCopy"},
    {"Tt", "initializeArrayWithTakeFrontToBack"},
    {"tT", "initializeArrayWithTakeBackToFront"},
    {"ug", "getEnumTag"},
    {"up", "destructiveProjectEnumData"},
    {"ui", "destructiveInjectEnumTag"},
    {"et", "getEnumTagSinglePayload"},
    {"st", "storeEnumTagSinglePayload"},
};

struct swift_node *swift_value_witness(struct swift *s)
{
    char first = swift_next(s);
    char second = swift_next(s);
    for (size_t i = 0; i < sizeof value_witnesses / sizeof *value_witnesses; i++)
        if (value_witnesses[i].letters[0] == first && value_witnesses[i].letters[1] == second)
            return swift_add(s, swift_word(s, SWIFT_WITNESS_WORD, value_witnesses[i].text), swift_pop(s, SWIFT_TYPE));
    return NULL;
}
