/*
 * types.c - reads function types, tuples, protocol compositions, and the types after X and Y.
 */
#include "demangle/swift/read.h"

static struct swift_node *pop_arguments(struct swift *s, enum swift_kind kind)
{
    struct swift_node *type =
        swift_pop(s, SWIFT_EMPTY_LIST) ? swift_type(s, swift_node(s, SWIFT_TUPLE)) : swift_pop(s, SWIFT_TYPE);
    return swift_of(s, kind, type);
}

struct swift_node *swift_function_type(struct swift *s, enum swift_kind kind, const char *text, bool c_type)
{
    struct swift_node *type = swift_word(s, kind, text);
    if (c_type)
        type = swift_add(s, type, swift_c_type(s));
    for (enum swift_kind part = SWIFT_SENDING_RESULT; part <= SWIFT_ASYNC; part++)
        type = swift_add_any(s, type, swift_pop(s, part));
    type = swift_add(s, type, pop_arguments(s, SWIFT_ARGUMENTS));
    type = swift_add(s, type, pop_arguments(s, SWIFT_RETURNS));
    return swift_type(s, type);
}

static struct swift_node *pop_element(struct swift *s)
{
    struct swift_node *element = swift_add_any(s, swift_node(s, SWIFT_ELEMENT), swift_pop(s, SWIFT_VARIADIC));
    struct swift_node *label = swift_pop(s, SWIFT_IDENTIFIER);
    if (label)
        element = swift_add(s, element, swift_renamed(s, SWIFT_ELEMENT_NAME, label));
    return swift_add(s, element, swift_pop(s, SWIFT_TYPE));
}

struct swift_node *swift_tuple(struct swift *s)
{
    return swift_type(s, swift_pop_list(s, SWIFT_TUPLE, pop_element));
}

struct swift_node *swift_protocols(struct swift *s)
{
    return swift_of(s, SWIFT_PROTOCOL_LIST, swift_pop_list(s, SWIFT_TYPE_LIST, swift_pop_protocol));
}

static struct swift_node *modified(struct swift *s, const char *text)
{
    return swift_type(s, swift_add(s, swift_word(s, SWIFT_MODIFIED, text), swift_pop_inside(s)));
}

const char *swift_representation(struct swift *s)
{
    static const struct swift_choice kinds[] = {{'t', "@thin "}, {'T', "@thick "}, {'o', "@objc_metatype "}, {0}};
    return swift_take_one(s, kinds);
}

static struct swift_node *represented(struct swift *s, enum swift_kind kind)
{
    const char *text = swift_representation(s);
    return text ? swift_type(s, swift_add(s, swift_word(s, kind, text), swift_pop(s, SWIFT_TYPE))) : NULL;
}

/* { var A, let B }, optionally generic with arguments: a variable captured by closures. */
static struct swift_node *box(struct swift *s, bool generic)
{
    struct swift_node *signature = generic ? swift_pop(s, SWIFT_SIGNATURE) : NULL;
    struct swift_node *arguments = generic ? swift_pop_types(s) : NULL;
    struct swift_node *fields = swift_pop_types(s);
    struct swift_node *node = swift_of(s, SWIFT_BOX, fields);
    if (generic)
        node = swift_add(s, swift_add(s, node, signature), arguments);
    return swift_type(s, node);
}

static struct swift_node *sugar(struct swift *s)
{
    char letter = swift_next(s);
    struct swift_node *last = swift_pop(s, SWIFT_TYPE);
    struct swift_node *first = letter == 'D' || letter == 'A' ? swift_pop(s, SWIFT_TYPE) : NULL;
    struct swift_node *one[] = {swift_text(s, letter == 'a'   ? "["
                                              : letter == 'p' ? "("
                                                              : ""),
                                last,
                                swift_text(s, letter == 'a'   ? "]"
                                              : letter == 'p' ? ")"
                                                              : "?")};
    struct swift_node *two[] = {swift_text(s, "["), first, swift_text(s, letter == 'D' ? " : " : " of "), last,
                                swift_text(s, "]")};
    if (letter != 'q' && letter != 'a' && letter != 'p' && letter != 'D' && letter != 'A')
        return NULL;
    return swift_type(s, letter == 'D' || letter == 'A' ? swift_joined(s, two, 5) : swift_joined(s, one, 3));
}

static struct swift_node *requirement_popped(struct swift *s)
{
    struct swift_node *node = swift_pop_any(s);
    return node && (node->kind == SWIFT_REQUIREMENT || node->kind == SWIFT_LAYOUT) ? node : NULL;
}

static struct swift_node *constrained(struct swift *s)
{
    struct swift_node *requirements = swift_pop_list(s, SWIFT_TYPE_LIST, requirement_popped);
    return swift_type(s, swift_of_2(s, SWIFT_CONSTRAINED, swift_pop(s, SWIFT_TYPE), requirements));
}

static struct swift_node *anonymous(struct swift *s)
{
    struct swift_node *types = swift_pop_types(s);
    struct swift_node *name = swift_pop(s, SWIFT_IDENTIFIER);
    struct swift_node *context = swift_pop_context(s);
    return swift_of_3(s, SWIFT_ANONYMOUS, context, name, types);
}

static struct swift_node *of_c_type(struct swift *s)
{
    static const struct swift_choice conventions[] = {{'B', "@convention(block) "}, {'C', "@convention(c) "}, {0}};
    const char *text = swift_take_one(s, conventions);
    return text ? swift_function_type(s, SWIFT_SPECIAL_FUNCTION_TYPE, text, true) : NULL;
}

static struct swift_node *special_function(struct swift *s, char letter)
{
    static const struct {
        char letter;
        enum swift_kind kind;
        const char *text;
    } kinds[] = {
        {'E', SWIFT_NOESCAPE_TYPE, ""},
        {'U', SWIFT_FUNCTION_TYPE, ""},
        {'A', SWIFT_SPECIAL_FUNCTION_TYPE, "@autoclosure "},
        {'K', SWIFT_SPECIAL_FUNCTION_TYPE, "@autoclosure "},
        {'f', SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(thin) "},
        {'B', SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(block) "},
        {'L', SWIFT_SPECIAL_FUNCTION_TYPE, "@escaping @convention(block) "},
        {'C', SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(c) "},
        {'O', SWIFT_SPECIAL_FUNCTION_TYPE, "@called(atMostOnce) "},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].letter == letter)
            return swift_function_type(s, kinds[i].kind, kinds[i].text, false);
    return NULL;
}

struct swift_node *swift_special_type(struct swift *s)
{
    char letter = swift_next(s);
    struct swift_node *type;
    switch (letter) {
    case 'z':
        return of_c_type(s);
    case 'o':
        return modified(s, "unowned ");
    case 'u':
        return modified(s, "unowned(unsafe) ");
    case 'w':
        return modified(s, "weak ");
    case 'b':
        return modified(s, "@box ");
    case 'D':
        return swift_pop(s, SWIFT_TYPE) ? swift_type(s, swift_word(s, SWIFT_FIXED_TEXT, "Self")) : NULL;
    case 'M':
        return represented(s, SWIFT_METATYPE);
    case 'm':
        return represented(s, SWIFT_EXISTENTIAL_METATYPE);
    case 'p':
        return swift_type(s, swift_of(s, SWIFT_EXISTENTIAL_METATYPE, swift_pop(s, SWIFT_TYPE)));
    case 'P':
        return constrained(s);
    case 'c':
        type = swift_pop(s, SWIFT_TYPE);
        return swift_type(s, swift_of_2(s, SWIFT_PROTOCOLS_AND_CLASS, swift_protocols(s), type));
    case 'l':
        return swift_type(s, swift_of(s, SWIFT_PROTOCOLS_AND_OBJECT, swift_protocols(s)));
    case 'X':
    case 'x':
        return box(s, letter == 'X');
    case 'Y':
        return swift_any_type(s, SWIFT_OTHER_NOMINAL);
    case 'Z':
        return anonymous(s);
    case 'e':
        return swift_type(s, swift_word(s, SWIFT_FIXED_TEXT, "<ERROR TYPE>"));
    case 'S':
        return sugar(s);
    default:
        return special_function(s, letter);
    }
}

static struct swift_node *differentiable(struct swift *s)
{
    static const struct swift_choice kinds[] = {{'f', "@differentiable(_forward) "},
                                                {'r', "@differentiable(reverse) "},
                                                {'d', "@differentiable "},
                                                {'l', "@differentiable(_linear) "},
                                                {0}};
    const char *text = swift_take_one(s, kinds);
    return text ? swift_word(s, SWIFT_DIFFERENTIABLE, text) : NULL;
}

struct swift_node *swift_annotation(struct swift *s)
{
    switch (swift_next(s)) {
    case 'a':
        return swift_word(s, SWIFT_ASYNC, " async");
    case 'A':
        return swift_word(s, SWIFT_ISOLATION, "@isolated(any) ");
    case 'C':
        return swift_word(s, SWIFT_ISOLATION, "nonisolated(nonsending) ");
    case 'c':
        return swift_add(s, swift_word(s, SWIFT_ISOLATION, "@"), swift_pop_inside(s));
    case 'b':
        return swift_word(s, SWIFT_SENDABLE, "@Sendable ");
    case 'j':
        return differentiable(s);
    case 'K':
        return swift_of(s, SWIFT_THROWS, swift_pop_inside(s));
    case 'T':
        return swift_word(s, SWIFT_SENDING_RESULT, "sending ");
    case 'i':
        return modified(s, "isolated ");
    case 'k':
        return modified(s, "@noDerivative ");
    case 't':
        return modified(s, "_const ");
    case 'g':
        return modified(s, "@const ");
    case 'u':
        return modified(s, "sending ");
    default:
        return NULL;
    }
}
