/*
 * read.c - dispatches the operators, and demangles a whole name.
 */
#include "demangle/swift/read.h"

#include <string.h>

#define ARENA_MAX  (1u << 20) /* limit of the nodes, bytes; the longest name of Apple's frameworks takes some 300 KiB */
#define NESTED_MAX 4          /* depth of names inside names */
#define NESTED_LEN 4096       /* limit of an inner name, demangled bytes */

/* Several substitutions: "A3a2B" is a a a b b. The last one is returned, the others are pushed. */
static struct swift_node *substitutions(struct swift *s)
{
    for (int repeat = -1;;) {
        char c = swift_next(s);
        bool lower = c >= 'a' && c <= 'z';
        if (lower || (c >= 'A' && c <= 'Z')) {
            size_t which = (size_t)(c - (lower ? 'a' : 'A'));
            if (which >= s->substitutions->count || repeat > MIRE_SWIFT_REPEAT_MAX)
                return NULL;
            struct swift_node *node = s->substitutions->kids[which];
            for (int i = 1; i < repeat; i++)
                if (!swift_push(s, node))
                    return NULL;
            if (!lower)
                return node;
            if (!swift_push(s, node))
                return NULL;
            repeat = -1;
        } else if (c == '_') {
            int which = repeat + 27;
            return (size_t)which < s->substitutions->count ? s->substitutions->kids[which] : NULL;
        } else {
            s->at--;
            if (!c || (repeat = swift_natural(s)) < 0)
                return NULL;
        }
    }
}

static struct swift_node *standard(struct swift *s)
{
    struct swift_node *type;
    if (swift_take(s, 'o'))
        return swift_word(s, SWIFT_MODULE, "__C");
    if (swift_take(s, 'C'))
        return swift_word(s, SWIFT_MODULE, "__C_Synthesized");
    if (swift_take(s, 'g')) {
        type = swift_of_2(s, SWIFT_BOUND, swift_swift_type(s, SWIFT_ENUM, "Optional"),
                          swift_of(s, SWIFT_TYPE_LIST, swift_pop(s, SWIFT_TYPE)));
        if (type)
            type->index = SWIFT_ENUM;
        return swift_remember(s, swift_type(s, type));
    }
    int repeat = swift_natural(s);
    bool second = swift_take(s, 'c');
    type = repeat <= MIRE_SWIFT_REPEAT_MAX ? swift_standard_type(s, second) : NULL;
    for (int i = 1; i < repeat; i++)
        if (!swift_push(s, type))
            return NULL;
    return type;
}

static struct swift_node *wrapped(struct swift *s, enum swift_kind kind, const char *text)
{
    return swift_type(s, swift_add(s, swift_word(s, kind, text), swift_pop_inside(s)));
}

/* A type, as the debugger mangles it. */
static struct swift_node *mangling(struct swift *s)
{
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *labels = swift_labels(s, type);
    return swift_add(s, swift_add_any(s, swift_node(s, SWIFT_MANGLING), labels), type);
}

static struct swift_node *integer(struct swift *s)
{
    bool negative = swift_take(s, 'n');
    int value = swift_index(s);
    char *text = value >= 0 ? arena_printf(&s->arena, "%d", negative ? -value : value) : NULL;
    return text ? swift_type(s, swift_word(s, SWIFT_FIXED_TEXT, text)) : NULL;
}

static struct swift_node *suffix(struct swift *s)
{
    struct swift_node *node = swift_node(s, SWIFT_SUFFIX);
    if (node) {
        node->text = s->text + s->at - 1;
        node->len = s->len - s->at + 1;
    }
    s->at = s->len;
    return node;
}

static struct swift_node *generic_type(struct swift *s)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    return swift_type(s, swift_of_2(s, SWIFT_GENERIC_TYPE, signature, swift_pop(s, SWIFT_TYPE)));
}

/* Operators of one letter. */
static struct swift_node *operator_of(struct swift *s, char letter)
{
    switch (letter) {
    case 'A':
        return substitutions(s);
    case 'B':
        return swift_builtin(s);
    case 'C':
        return swift_any_type(s, SWIFT_CLASS);
    case 'D':
        return mangling(s);
    case 'E':
        return swift_extension(s);
    case 'F':
        return swift_function(s);
    case 'G':
        return swift_bound(s);
    case 'H':
        return swift_conformance_operator(s);
    case 'I':
        return swift_impl_function(s);
    case 'K':
        return swift_word(s, SWIFT_THROWS, " throws");
    case 'L':
        return swift_local_name(s);
    case 'M':
        return swift_metadata(s);
    case 'N':
        return swift_add(s, swift_word(s, SWIFT_PREFIXED, "type metadata for "), swift_pop(s, SWIFT_TYPE));
    case 'O':
        return swift_any_type(s, SWIFT_ENUM);
    case 'P':
        return swift_any_type(s, SWIFT_PROTOCOL);
    case 'Q':
        return swift_archetype(s);
    case 'R':
        return swift_requirement(s);
    case 'S':
        return standard(s);
    case 'T':
        return swift_thunk(s);
    case 'V':
        return swift_any_type(s, SWIFT_STRUCTURE);
    case 'W':
        return swift_witness(s);
    case 'X':
        return swift_special_type(s);
    case 'Y':
        return swift_annotation(s);
    case 'Z':
        return swift_of(s, SWIFT_STATIC, swift_pop_entity(s));
    case 'a':
        return swift_any_type(s, SWIFT_ALIAS);
    case 'c':
        return swift_function_type(s, SWIFT_FUNCTION_TYPE, "", false);
    case 'd':
        return swift_node(s, SWIFT_VARIADIC);
    case 'f':
        return swift_part(s);
    case 'g':
        return swift_retroactive(s);
    case 'h':
        return wrapped(s, SWIFT_MODIFIED, "__shared ");
    case 'i':
        return swift_subscript(s);
    case 'l':
        return swift_signature(s, false);
    case 'm':
        return swift_type(s, swift_of(s, SWIFT_METATYPE, swift_pop(s, SWIFT_TYPE)));
    case 'n':
        return wrapped(s, SWIFT_MODIFIED, "__owned ");
    case 'o':
        return swift_operator_name(s);
    case 'p':
        return swift_type(s, swift_protocols(s));
    case 'q':
        return swift_type(s, swift_parameter_index(s));
    case 'r':
        return swift_signature(s, true);
    case 's':
        return swift_word(s, SWIFT_MODULE, "Swift");
    case 't':
        return swift_tuple(s);
    case 'u':
        return generic_type(s);
    case 'v':
        return swift_variable(s);
    case 'w':
        return swift_value_witness(s);
    case 'x':
        return swift_type(s, swift_parameter(s, 0, 0));
    case 'y':
        return swift_node(s, SWIFT_EMPTY_LIST);
    case 'z':
        return wrapped(s, SWIFT_INOUT, "inout ");
    case '_':
        return swift_node(s, SWIFT_FIRST_ELEMENT);
    case '$':
        return integer(s);
    case '.':
        return suffix(s);
    default:
        s->at--;
        return swift_identifier(s);
    }
}

/* Everything left on the stack, with attributes of the whole in front. */
static struct swift_node *all(struct swift *s)
{
    struct swift_node *root = swift_node(s, SWIFT_ALL);
    struct swift_node *parent = root;
    struct swift_node *behind = swift_pop(s, SWIFT_SUFFIX);
    while (parent && s->stack->count && swift_is_attribute(s->stack->kids[s->stack->count - 1])) {
        struct swift_node *attribute = swift_pop_any(s);
        parent = swift_add(s, parent, attribute) && attribute->kind == SWIFT_PARTIAL ? attribute : parent;
    }
    for (size_t i = 0; i < s->stack->count; i++)
        parent = swift_add(s, parent, s->stack->kids[i]);
    root = parent ? swift_add_any(s, root, behind) : NULL;
    return root && root->count ? root : NULL;
}

static struct swift_node *read_new(struct swift *s)
{
    while (s->at < s->len)
        if (!swift_push(s, operator_of(s, swift_next(s))) || s->failed)
            return NULL;
    return all(s);
}

enum mangling { NONE, OLD, V4_0, NEW, ASYNC_MAIN };

/* Recognize the mangling of a name, and the length of its prefix. */
static enum mangling look(size_t *prefix_out, const char *name, size_t len)
{
    static const struct {
        const char *prefix;
        enum mangling mangling;
    } prefixes[] = {
        {"$s", NEW},
        {"_$s", NEW},
        {"$S", NEW},
        {"_$S", NEW},
        {"$e", NEW},
        {"_$e", NEW},
        {"@__swiftmacro_", NEW},
        {"_T0", V4_0},
        {"__T0", V4_0},
        {"_T", OLD},
        {"__T", OLD},
        {"async_MainT", ASYNC_MAIN},
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        *prefix_out = strlen(prefixes[i].prefix);
        if (len >= *prefix_out && !memcmp(name, prefixes[i].prefix, *prefix_out))
            return prefixes[i].mangling;
    }
    return NONE;
}

static size_t demangle(char *out, size_t room, const char *name, size_t len, enum swift_style style, unsigned depth)
{
    struct swift s = {.depth = depth};
    size_t prefix = 0;
    size_t written = 0;
    enum mangling mangling = len <= MIRE_SWIFT_NAME_MAX && room ? look(&prefix, name, len) : NONE;
    if (mangling == NONE || memchr(name, '\0', len))
        return 0;
    arena_init(&s.arena, ARENA_MAX);
    s.text = name + prefix;
    s.len = len - prefix;
    s.labels_in_types = mangling == V4_0;
    s.stack = swift_node(&s, SWIFT_ALL);
    s.substitutions = swift_node(&s, SWIFT_ALL);
    if (mangling == ASYNC_MAIN) { /* its operators follow an unmangled name */
        s.text--;
        s.len++;
        (void)swift_push(&s, swift_text(&s, "async_Main"));
    }
    struct swift_node *root = NULL;
    if (s.stack && s.substitutions)
        root = mangling == OLD ? swift_old(&s) : read_new(&s);
    if (!root || s.failed || !swift_print(out, room, &written, &s, root, style))
        written = 0;
    arena_fini(&s.arena);
    return written;
}

struct swift_node *swift_nested(struct swift *s, const char *text, size_t len)
{
    char *out = arena_alloc(&s->arena, NESTED_LEN);
    if (!out)
        return NULL;
    size_t written = s->depth < NESTED_MAX ? demangle(out, NESTED_LEN, text, len, SWIFT_FULL, s->depth + 1) : 0;
    struct swift_node *node = swift_node(s, SWIFT_TEXT);
    if (node) {
        node->text = written ? out : text;
        node->len = written ? written : len;
    }
    return node;
}

size_t swift_demangle(char *out, size_t room, const char *name, size_t len, enum swift_style style)
{
    return demangle(out, room, name, len, style, 0);
}
