/*
 * generics.c - reads generic parameters, their requirements, and their member types.
 */
#include "demangle/swift/read.h"

#define COUNT_MAX 100000 /* parameters of a signature; at most 128 are written */

struct swift_node *swift_parameter(struct swift *s, int depth, int index)
{
    if (depth < 0 || index < 0 || depth > 0xffff || index > 0xffff)
        return NULL;
    return swift_indexed(s, SWIFT_PARAMETER, "", depth << 16 | index);
}

/* After q, R and others. */
struct swift_node *swift_parameter_index(struct swift *s)
{
    if (swift_take(s, 'd')) {
        int depth = swift_index(s);
        int index = swift_index(s);
        return depth < 0 ? NULL : swift_parameter(s, depth + 1, index);
    }
    if (swift_take(s, 'z'))
        return swift_parameter(s, 0, 0);
    if (swift_take(s, 's'))
        return swift_word(s, SWIFT_FIXED_TEXT, "Self");
    int index = swift_index(s);
    return index < 0 ? NULL : swift_parameter(s, 0, index + 1);
}

static struct swift_node *parameter_type(struct swift *s)
{
    return swift_type(s, swift_parameter_index(s));
}

struct swift_node *swift_pop_associated(struct swift *s)
{
    struct swift_node *protocol = swift_pop(s, SWIFT_TYPE);
    if (protocol && protocol->kids[0]->kind != SWIFT_PROTOCOL)
        return NULL;
    struct swift_node *name = swift_pop(s, SWIFT_IDENTIFIER);
    return swift_add_any(s, swift_of(s, SWIFT_ASSOCIATED_REF, name), protocol);
}

struct swift_node *swift_pop_associated_path(struct swift *s)
{
    return swift_pop_list(s, SWIFT_LIST, swift_pop_associated);
}

/* A.B, where A is `base` if `given`, otherwise from the stack. */
static struct swift_node *member(struct swift *s, struct swift_node *base, bool given)
{
    struct swift_node *name = swift_pop_associated(s);
    return swift_type(s, swift_of_2(s, SWIFT_MEMBER, given ? base : swift_pop(s, SWIFT_TYPE), name));
}

/* A.B.C */
static struct swift_node *path(struct swift *s, struct swift_node *base, bool given)
{
    struct swift_node *names = swift_pop_associated_path(s);
    struct swift_node *type = given ? base : swift_pop(s, SWIFT_TYPE);
    for (size_t i = 0; names && i < names->count; i++)
        type = swift_type(s, swift_of_2(s, SWIFT_MEMBER, type, names->kids[i]));
    return names && names->count ? type : NULL;
}

static bool is_requirement(const struct swift_node *node)
{
    return node->kind >= SWIFT_REQUIREMENT && node->kind <= SWIFT_VALUE_MARKER;
}

struct swift_node *swift_signature(struct swift *s, bool counts)
{
    struct swift_node *signature = swift_node(s, SWIFT_SIGNATURE);
    if (!counts)
        signature = swift_add(s, signature, swift_indexed(s, SWIFT_COUNT, "", 1));
    while (counts && signature && !swift_take(s, 'l')) {
        int count = swift_take(s, 'z') ? 0 : swift_index(s) + 1;
        if (count > COUNT_MAX || (!count && s->text[s->at - 1] != 'z'))
            return NULL;
        signature = swift_add(s, signature, swift_indexed(s, SWIFT_COUNT, "", count));
    }
    size_t first = signature ? signature->count : 0;
    while (signature && s->stack->count && is_requirement(s->stack->kids[s->stack->count - 1]))
        signature = swift_add(s, signature, swift_pop_any(s));
    if (signature)
        swift_reverse(signature, first);
    return signature;
}

/* _Trivial(64, 16) and others. */
static struct swift_node *layout(struct swift *s, struct swift_node *subject)
{
    static const char *const names[] = {['N'] = "_NativeRefCountedObject",
                                        ['R'] = "_RefCountedObject",
                                        ['T'] = "_Trivial",
                                        ['C'] = "AnyObject",
                                        ['D'] = "_NativeClass",
                                        ['E'] = "_Trivial",
                                        ['e'] = "_Trivial",
                                        ['M'] = "_TrivialAtMost",
                                        ['m'] = "_TrivialAtMost",
                                        ['U'] = "_UnknownLayout",
                                        ['B'] = "_BridgeObject",
                                        ['S'] = "_TrivialStride"};
    unsigned char letter = (unsigned char)swift_next(s);
    const char *name = letter < sizeof names / sizeof *names ? names[letter] : NULL;
    bool sized = letter == 'E' || letter == 'e' || letter == 'M' || letter == 'm' || letter == 'S';
    int size = sized ? swift_index(s) : 0;
    int align = letter == 'E' || letter == 'M' ? swift_index(s) : 0;
    if (!name || size < 0 || align < 0)
        return NULL;
    if (letter == 'E' || letter == 'M')
        name = arena_printf(&s->arena, "%s(%d, %d)", name, size, align);
    else if (sized)
        name = arena_printf(&s->arena, "%s(%d)", name, size);
    return name ? swift_add(s, swift_word(s, SWIFT_LAYOUT, name), subject) : NULL;
}

static struct swift_node *inverse(struct swift *s, int number, struct swift_node *subject)
{
    static const char *const whole[] = {"~Swift.Copyable", "~Swift.Escapable"}, *const brief[] = {"~Copyable",
                                                                                                  "~Escapable"};
    char *text = NULL;
    if (number > 1)
        text = arena_printf(&s->arena, "~Swift.<bit %d>", number);
    else if (number >= 0)
        text = arena_strdup(&s->arena, whole[number]);
    struct swift_node *node = text ? swift_word(s, SWIFT_LAYOUT, text) : NULL;
    if (node)
        node->brief = number < 2 ? brief[number] : NULL;
    return swift_add(s, node, subject);
}

static struct swift_node *required(struct swift *s, const char *text, struct swift_node *subject,
                                   struct swift_node *what)
{
    return swift_add(s, swift_add(s, swift_word(s, SWIFT_REQUIREMENT, text), subject), what);
}

enum subject { PARAMETER, MEMBER, PATH, POPPED };
enum generic_rule { PROTOCOL, BASE, SAME, SHAPE, LAYOUT, INVERSE };

static const struct {
    char letter;
    uint8_t subject;
    uint8_t rule;
} requirements[] = {
    {'b', PARAMETER, BASE},    {'c', MEMBER, BASE},    {'C', PATH, BASE},       {'B', POPPED, BASE},
    {'s', PARAMETER, SAME},    {'t', MEMBER, SAME},    {'T', PATH, SAME},       {'S', POPPED, SAME},
    {'l', PARAMETER, LAYOUT},  {'m', MEMBER, LAYOUT},  {'M', PATH, LAYOUT},     {'L', POPPED, LAYOUT},
    {'p', MEMBER, PROTOCOL},   {'P', PATH, PROTOCOL},  {'Q', POPPED, PROTOCOL}, {'h', PARAMETER, SHAPE},
    {'i', PARAMETER, INVERSE}, {'j', MEMBER, INVERSE}, {'J', PATH, INVERSE},    {'I', POPPED, INVERSE},
};

static struct swift_node *subject_of(struct swift *s, enum subject subject)
{
    if (subject == PARAMETER)
        return parameter_type(s);
    if (subject == POPPED)
        return swift_pop(s, SWIFT_TYPE);
    struct swift_node *base = parameter_type(s);
    return swift_remember(s, base ? (subject == MEMBER ? member(s, base, true) : path(s, base, true)) : NULL);
}

static struct swift_node *marker(struct swift *s, char letter)
{
    struct swift_node *type = letter == 'V' ? swift_pop(s, SWIFT_TYPE) : NULL;
    if (letter == 'v')
        return swift_of(s, SWIFT_PACK_MARKER, parameter_type(s));
    return type ? swift_of_2(s, SWIFT_VALUE_MARKER, parameter_type(s), type) : NULL;
}

struct swift_node *swift_requirement(struct swift *s)
{
    char letter = swift_peek(s);
    enum subject subject = PARAMETER;
    enum generic_rule rule = PROTOCOL;
    if (letter == 'v' || letter == 'V') {
        swift_next(s);
        return marker(s, letter);
    }
    for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++)
        if (requirements[i].letter == letter) {
            subject = requirements[i].subject;
            rule = requirements[i].rule;
            swift_next(s);
            break;
        }
    int number = rule == INVERSE ? swift_index(s) : 0;
    struct swift_node *left = subject_of(s, subject);
    switch (rule) {
    case PROTOCOL:
        return required(s, ": ", left, swift_pop_protocol(s));
    case BASE:
        return required(s, ": ", left, swift_pop(s, SWIFT_TYPE));
    case SAME:
        return required(s, " == ", left, swift_pop(s, SWIFT_TYPE));
    case SHAPE:
        return required(s, ".shape == ", left,
                        swift_of_2(s, SWIFT_JOINED, swift_pop(s, SWIFT_TYPE), swift_text(s, ".shape")));
    case LAYOUT:
        return layout(s, left);
    default:
        return inverse(s, number, left);
    }
}

static struct swift_node *opaque(struct swift *s)
{
    struct swift_node *lists;
    struct swift_node *conformances;
    int index = swift_index(s);
    if (index < 0 || !swift_arguments(s, &lists, &conformances))
        return NULL;
    struct swift_node *name = swift_pop_any(s);
    struct swift_node *type = swift_of(s, SWIFT_OPAQUE_TYPE, name);
    if (type)
        type->index = (uint32_t)index;
    return swift_remember(s, swift_type(s, type));
}

static struct swift_node *pack_element(struct swift *s)
{
    return swift_pop(s, SWIFT_TYPE);
}

static struct swift_node *pack(struct swift *s, bool low)
{
    static const struct swift_choice lowered[] = {
        {'P', "Pack{"}, {'d', "@direct Pack{"}, {'i', "@indirect Pack{"}, {0}};
    const char *text = low ? swift_take_one(s, lowered) : "Pack{";
    struct swift_node *list = swift_pop_list(s, SWIFT_PACK, pack_element);
    if (!text || !list)
        return NULL;
    list->text = text;
    list->len = __builtin_strlen(text);
    return swift_type(s, list);
}

static struct swift_node *expansion(struct swift *s)
{
    (void)swift_pop_inside(s); /* number of elements */
    return swift_type(s, swift_add(s, swift_word(s, SWIFT_MODIFIED, "repeat "), swift_pop_inside(s)));
}

static struct swift_node *of_pack(struct swift *s)
{
    struct swift_node *type = swift_pop_inside(s);
    int level = swift_index(s);
    char *text = level >= 0 ? arena_printf(&s->arena, "/* level: %d */ each ", level) : NULL;
    return text ? swift_type(s, swift_add(s, swift_word(s, SWIFT_MODIFIED, text), type)) : NULL;
}

struct swift_node *swift_archetype(struct swift *s)
{
    struct swift_node *base;
    char letter = swift_next(s);
    switch (letter) {
    case 'a':
        base = swift_pop(s, SWIFT_IDENTIFIER);
        return swift_remember(s, swift_type(s, swift_of_2(s, SWIFT_ASSOCIATED_TYPE, swift_pop_inside(s), base)));
    case 'O':
        return swift_of(s, SWIFT_OPAQUE_OF, swift_pop_context(s));
    case 'o':
        return opaque(s);
    case 'r':
    case 'u':
        return swift_type(s, swift_word(s, SWIFT_FIXED_TEXT, "some"));
    case 'R':
    case 'U':
        return swift_index(s) < 0 ? NULL : swift_type(s, swift_word(s, SWIFT_FIXED_TEXT, "some"));
    case 'x':
        return swift_remember(s, member(s, NULL, false));
    case 'X':
        return swift_remember(s, path(s, NULL, false));
    case 'y':
    case 'Y':
        base = parameter_type(s);
        return swift_remember(s, letter == 'y' ? member(s, base, true) : path(s, base, true));
    case 'z':
        return swift_remember(s, member(s, swift_type(s, swift_parameter(s, 0, 0)), true));
    case 'Z':
        return swift_remember(s, path(s, swift_type(s, swift_parameter(s, 0, 0)), true));
    case 'p':
        return expansion(s);
    case 'e':
        return of_pack(s);
    case 'P':
        return pack(s, false);
    case 'S':
        return pack(s, true);
    default:
        return NULL;
    }
}
