/*
 * old.c - reads names of Swift 3 and before, and the names of Swift classes in the Objective-C runtime
 * (_TtC4shop4Cart). Operators come before their operands.
 *
 *     F C 4shop 4Cart 3add fT5countSi_T_      function of class shop.Cart: add(count: Int) -> ()
 *
 * Functions, variables, types, closures, thunks, generic functions and their specializations are read. Names of other
 * compiler-generated code (protocol witnesses) stay mangled.
 */
#include "demangle/swift/old.h"

#include <string.h>

#define DEPTH_MAX 100

static struct swift_node *entity_of(struct old *o);

struct swift_node *swift_old_name(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'P')) {
        struct swift_node *discriminator = swift_old_name(o);
        return swift_of_2(s, SWIFT_PRIVATE_NAME, discriminator, discriminator ? swift_old_name(o) : NULL);
    }
    if (swift_take(s, 'L')) {
        struct swift_node *local = swift_indexed(s, SWIFT_LOCAL_NAME, "", swift_index(s));
        return swift_add(s, local, swift_old_name(o));
    }
    bool punycode = swift_take(s, 'X');
    char fixity = swift_take(s, 'o') ? swift_next(s) : '\0';
    int len = swift_natural(s);
    struct swift_node *name = len > 0 && (size_t)len <= s->len - s->at ? swift_node(s, SWIFT_IDENTIFIER) : NULL;
    if (!name)
        return NULL;
    name->text = s->text + s->at;
    name->len = (size_t)len;
    s->at += (size_t)len;
    if (punycode && !swift_punycode(s, &name->text, &name->len, name->text, name->len))
        return NULL;
    return fixity ? swift_operator_of(s, name, fixity) : name;
}

static struct swift_node *module_of(struct old *o)
{
    struct swift_node *name = swift_old_name(o);
    return name && name->kind == SWIFT_IDENTIFIER ? swift_remember(o->s, swift_renamed(o->s, SWIFT_MODULE, name))
                                                  : NULL;
}

/* S_, S0_ and so on; or a type or module with a letter of its own. */
struct swift_node *swift_old_substitution(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'o'))
        return swift_word(s, SWIFT_MODULE, "__C");
    if (swift_take(s, 'C'))
        return swift_word(s, SWIFT_MODULE, "__C_Synthesized");
    if (swift_take(s, 's'))
        return swift_word(s, SWIFT_MODULE, "Swift");
    if (swift_take(s, 'c'))
        return swift_inside(swift_swift_type(s, SWIFT_STRUCTURE, "UnicodeScalar"));
    if (swift_take(s, 'Q'))
        return swift_inside(swift_swift_type(s, SWIFT_ENUM, "ImplicitlyUnwrappedOptional"));
    char letter = swift_peek(s);
    if (letter != '_' && (letter < '0' || letter > '9'))
        return swift_inside(swift_standard_type(s, false));
    int index = swift_index(s);
    return index >= 0 && (size_t)index < s->substitutions->count ? s->substitutions->kids[index] : NULL;
}

/* After E; after e with requirements, which are not written. */
static struct swift_node *extension(struct old *o)
{
    struct swift *s = o->s;
    bool bounded = swift_next(s) == 'e';
    struct swift_node *module = swift_take(s, 's')   ? swift_word(s, SWIFT_MODULE, "Swift")
                                : swift_take(s, 'S') ? swift_old_substitution(o)
                                                     : module_of(o);
    if (!module || module->kind != SWIFT_MODULE || (bounded && !swift_old_signature(o)))
        return NULL;
    struct swift_node *context = swift_old_context(o);
    return context ? swift_add(s, swift_of(s, SWIFT_EXTENSION, module), context) : NULL;
}

struct swift_node *swift_old_context(struct old *o)
{
    struct swift *s = o->s;
    struct swift_node *node = NULL;
    char letter = swift_peek(s);
    if (++o->depth > DEPTH_MAX)
        return NULL;
    if (swift_take(s, 'S')) {
        node = swift_old_substitution(o);
    } else if (swift_take(s, 's')) {
        node = swift_word(s, SWIFT_MODULE, "Swift");
    } else if (letter == 'E' || letter == 'e') {
        node = extension(o);
    } else if (letter && strchr("CVOFviIZ", letter)) {
        node = entity_of(o);
    } else if (letter == 'P' || letter == 'G') {
        node = swift_inside(swift_old_type(o));
    } else {
        node = module_of(o);
    }
    o->depth--;
    return node;
}

static struct swift_node *nominal(struct old *o, enum swift_kind kind)
{
    struct swift_node *context = swift_old_context(o);
    struct swift_node *name = context ? swift_old_name(o) : NULL;
    return swift_remember(o->s, swift_of_2(o->s, kind, context, name));
}

static struct swift_node *tuple(struct old *o, bool variadic)
{
    struct swift *s = o->s;
    struct swift_node *node = swift_node(s, SWIFT_TUPLE);
    while (node && !swift_take(s, '_')) {
        struct swift_node *element = swift_node(s, SWIFT_ELEMENT);
        char c = swift_peek(s);
        if ((c >= '0' && c <= '9') || c == 'o' || c == 'X') {
            struct swift_node *label = swift_old_name(o);
            element = swift_add(s, element, label ? swift_renamed(s, SWIFT_ELEMENT_NAME, label) : NULL);
        }
        node = swift_add(s, node, swift_add(s, element, swift_old_type(o)));
    }
    if (variadic && node && node->count)
        (void)swift_add(s, node->kids[node->count - 1], swift_node(s, SWIFT_VARIADIC));
    return node;
}

static struct swift_node *function(struct old *o, enum swift_kind kind, const char *text)
{
    struct swift *s = o->s;
    struct swift_node *node = swift_word(s, kind, text);
    if (swift_take(s, 'z'))
        node = swift_add(s, node, swift_word(s, SWIFT_THROWS, " throws"));
    node = swift_add(s, node, swift_of(s, SWIFT_ARGUMENTS, swift_old_type(o)));
    return node ? swift_add(s, node, swift_of(s, SWIFT_RETURNS, swift_old_type(o))) : NULL;
}

static struct swift_node *bound(struct old *o)
{
    struct swift *s = o->s;
    struct swift_node *type = swift_inside(swift_old_type(o));
    struct swift_node *arguments = swift_node(s, SWIFT_TYPE_LIST);
    if (!type || !swift_is_nominal(type))
        return NULL;
    while (arguments && !swift_take(s, '_'))
        arguments = swift_add(s, arguments, swift_old_type(o));
    struct swift_node *node = swift_of_2(s, SWIFT_BOUND, swift_type(s, type), arguments);
    if (node)
        node->index = type->kind;
    return node;
}

/* A protocol: a substitution, alone or with a module before the name. A class may occur as well. */
struct swift_node *swift_old_protocol(struct old *o)
{
    struct swift *s = o->s;
    if (!swift_take(s, 'S'))
        return nominal(o, SWIFT_PROTOCOL);
    struct swift_node *known = swift_old_substitution(o);
    return known && known->kind == SWIFT_MODULE
               ? swift_remember(s, swift_of_2(s, SWIFT_PROTOCOL, known, swift_old_name(o)))
               : known;
}

/* P: protocols, ended by _; PM: their metatype. */
static struct swift_node *protocols(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'M'))
        return swift_of(s, SWIFT_EXISTENTIAL_METATYPE, swift_old_type(o));
    struct swift_node *list = swift_node(s, SWIFT_TYPE_LIST);
    while (list && !swift_take(s, '_')) {
        list = swift_add(s, list, swift_type(s, swift_old_protocol(o)));
    }
    return swift_of(s, SWIFT_PROTOCOL_LIST, list);
}

static struct swift_node *modified(struct old *o, enum swift_kind kind, const char *text)
{
    return swift_add(o->s, swift_word(o->s, kind, text), swift_inside(swift_old_type(o)));
}

/* After X. */
static struct swift_node *special(struct old *o)
{
    switch (swift_next(o->s)) {
    case 'o':
        return modified(o, SWIFT_MODIFIED, "unowned ");
    case 'u':
        return modified(o, SWIFT_MODIFIED, "unowned(unsafe) ");
    case 'w':
        return modified(o, SWIFT_MODIFIED, "weak ");
    case 'f':
        return function(o, SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(thin) ");
    case 'F':
        return swift_old_impl(o);
    case 'M': {
        const char *text = swift_representation(o->s);
        return text ? swift_add(o->s, swift_word(o->s, SWIFT_METATYPE, text), swift_old_type(o)) : NULL;
    }
    default:
        return NULL;
    }
}

static struct swift_node *inside_of(struct old *o)
{
    struct swift *s = o->s;
    switch (swift_next(s)) {
    case 'B':
        return swift_inside(swift_builtin(s));
    case 'S':
        return swift_old_substitution(o);
    case 's':
        return swift_of_2(s, SWIFT_STRUCTURE, swift_word(s, SWIFT_MODULE, "Swift"), swift_old_name(o));
    case 'a':
        return nominal(o, SWIFT_ALIAS);
    case 'C':
        return nominal(o, SWIFT_CLASS);
    case 'V':
        return nominal(o, SWIFT_STRUCTURE);
    case 'O':
        return nominal(o, SWIFT_ENUM);
    case 'D':
        return swift_old_type(o) ? swift_word(s, SWIFT_FIXED_TEXT, "Self") : NULL;
    case 'E':
        return swift_take(s, 'R') && swift_take(s, 'R') ? swift_word(s, SWIFT_FIXED_TEXT, "<ERROR TYPE>") : NULL;
    case 'F':
    case 'f':
        return function(o, SWIFT_FUNCTION_TYPE, "");
    case 'K':
        return function(o, SWIFT_SPECIAL_FUNCTION_TYPE, "@autoclosure ");
    case 'b':
        return function(o, SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(block) ");
    case 'c':
        return function(o, SWIFT_SPECIAL_FUNCTION_TYPE, "@convention(c) ");
    case 'G':
        return bound(o);
    case 'M':
        return swift_of(s, SWIFT_METATYPE, swift_old_type(o));
    case 'P':
        return protocols(o);
    case 'R':
        return modified(o, SWIFT_INOUT, "inout ");
    case 'T':
        return tuple(o, false);
    case 't':
        return tuple(o, true);
    case 'X':
        return special(o);
    case 'x':
        return swift_parameter(s, 0, 0);
    case 'q':
        return swift_old_parameter(o);
    case 'u':
        return swift_old_generic(o);
    case 'w':
    case 'W':
        return swift_old_member(o, s->text[s->at - 1] == 'W');
    default:
        return NULL;
    }
}

struct swift_node *swift_old_type(struct old *o)
{
    if (++o->depth > DEPTH_MAX)
        return NULL;
    struct swift_node *inside = inside_of(o);
    o->depth--;
    return inside && inside->kind != SWIFT_MODULE ? swift_type(o->s, inside) : NULL;
}

/* Move the labels out of the arguments' type; functions are written with labels. */
static struct swift_node *typed(struct old *o, struct swift_node *node)
{
    struct swift *s = o->s;
    struct swift_node *type = node ? swift_old_type(o) : NULL;
    if (!type)
        return NULL;
    s->labels_in_types = true;
    struct swift_node *labels = swift_labels(s, type);
    return swift_add(s, swift_add_any(s, node, labels), type);
}

static struct swift_node *closure(struct old *o, struct swift_node *context, const char *what)
{
    struct swift *s = o->s;
    int index = swift_index(s);
    char *text = index >= 0 ? arena_printf(&s->arena, "%sclosure #%d", what, index + 1) : NULL;
    struct swift_node *node = text ? swift_add(s, swift_word(s, SWIFT_CLOSURE, text), context) : NULL;
    return node ? swift_add(s, node, swift_old_type(o)) : NULL;
}

static struct swift_node *accessor(struct old *o, struct swift_node *context, const char *text)
{
    struct swift_node *variable = swift_of_2(o->s, SWIFT_VARIABLE, context, swift_old_name(o));
    return swift_add(o->s, swift_word(o->s, SWIFT_ACCESSOR, text), typed(o, variable));
}

static struct swift_node *part(struct old *o, struct swift_node *context, const char *text)
{
    return swift_add(o->s, swift_word(o->s, SWIFT_PART, text), context);
}

/* au, lo and on: the addressor of a variable. */
static struct swift_node *addressor(struct old *o, struct swift_node *context)
{
    static const char *const owners[] = {
        ['u'] = "unsafe", ['O'] = "owning", ['o'] = "nativeOwning", ['p'] = "nativePinning"};
    struct swift *s = o->s;
    const char *mutable = swift_next(s) == 'a' ? "Mutable" : "";
    unsigned char letter = (unsigned char)swift_next(s);
    const char *owner = letter < sizeof owners / sizeof *owners ? owners[letter] : NULL;
    char *text = owner ? arena_printf(&s->arena, "%s%sAddressor", owner, mutable) : NULL;
    return text ? accessor(o, context, text) : NULL;
}

/* After I: the initial value of a variable, or the default value of an argument. */
static struct swift_node *initial(struct old *o)
{
    struct swift *s = o->s;
    struct swift_node *context = swift_old_context(o);
    if (!context || swift_take(s, 'i'))
        return context ? swift_add(s, swift_word(s, SWIFT_PART_OF, "variable initialization expression"), context)
                       : NULL;
    int index = swift_take(s, 'A') ? swift_index(s) : -1;
    char *text = index >= 0 ? arena_printf(&s->arena, "default argument %d", index) : NULL;
    return text ? swift_add(s, swift_word(s, SWIFT_PART_OF, text), context) : NULL;
}

/* The entity after the context of a function. */
static struct swift_node *function_entity(struct old *o, struct swift_node *context)
{
    static const struct swift_choice accessors[] = {{'g', "getter"},  {'s', "setter"}, {'m', "materializeForSet"},
                                                    {'w', "willset"}, {'W', "didset"}, {0}};
    struct swift *s = o->s;
    bool class = context->kind == SWIFT_CLASS;
    char letter = swift_peek(s);
    const char *text = swift_take_one(s, accessors);
    if (text)
        return accessor(o, context, text);
    if (letter == 'a' || letter == 'l')
        return addressor(o, context);
    if (swift_take(s, 'D'))
        return part(o, context, class ? "__deallocating_deinit" : "deinit");
    if (swift_take(s, 'd'))
        return part(o, context, "deinit");
    if (swift_take(s, 'E'))
        return part(o, context, "__ivar_destroyer");
    if (swift_take(s, 'e'))
        return part(o, context, "__ivar_initializer");
    if (swift_take(s, 'C') || swift_take(s, 'c'))
        return typed(
            o, swift_add(s, swift_word(s, SWIFT_INITIALIZER, letter == 'C' && class ? "__allocating_init" : "init"),
                         context));
    if (swift_take(s, 'U'))
        return closure(o, context, "");
    if (swift_take(s, 'u'))
        return closure(o, context, "implicit ");
    return typed(o, swift_of_2(s, SWIFT_FUNCTION, context, swift_old_name(o)));
}

static struct swift_node *entity_of(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'Z'))
        return swift_of(s, SWIFT_STATIC, entity_of(o));
    char letter = swift_next(s);
    if (letter == 'C')
        return nominal(o, SWIFT_CLASS);
    if (letter == 'V')
        return nominal(o, SWIFT_STRUCTURE);
    if (letter == 'O')
        return nominal(o, SWIFT_ENUM);
    if (letter == 'I')
        return initial(o);
    if (letter != 'F' && letter != 'v')
        return NULL;
    struct swift_node *context = swift_old_context(o);
    if (!context || !swift_is_context(context))
        return NULL;
    if (letter == 'F')
        return function_entity(o, context);
    return typed(o, swift_of_2(s, SWIFT_VARIABLE, context, swift_old_name(o)));
}

static struct swift_node *prefixed(struct old *o, const char *text)
{
    return swift_add(o->s, swift_word(o->s, SWIFT_PREFIXED, text), swift_old_type(o));
}

/* After M, of a type. */
static struct swift_node *metadata(struct old *o)
{
    static const struct swift_choice kinds[] = {{'P', "generic type metadata pattern for "},
                                                {'a', "type metadata accessor for "},
                                                {'L', "lazy cache variable for type metadata for "},
                                                {'m', "metaclass for "},
                                                {'n', "nominal type descriptor for "},
                                                {'f', "full type metadata for "},
                                                {0}};
    const char *text = swift_take_one(o->s, kinds);
    return prefixed(o, text ? text : "type metadata for ");
}

static bool take_word(struct swift *s, const char *word)
{
    size_t len = strlen(word);
    if (len > s->len - s->at || memcmp(s->text + s->at, word, len) != 0)
        return false;
    s->at += len;
    return true;
}

static struct swift_node *global(struct old *o)
{
    static const struct {
        const char *letters;
        const char *text;
    } attributes[] = {{"To", "@objc "}, {"TO", "@nonobjc "}, {"TD", "dynamic "}, {"Td", "super "}, {"TV", "override "}};
    struct swift *s = o->s;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (take_word(s, attributes[i].letters))
            return swift_add(s,
                             swift_add(s, swift_node(s, SWIFT_ALL), swift_word(s, SWIFT_ATTRIBUTE, attributes[i].text)),
                             global(o));
    if (take_word(s, "TS")) {
        struct swift_node *node = swift_node(s, SWIFT_ALL);
        do
            node = swift_add(s, node, swift_old_specialization(o));
        while (node && take_word(s, "_TTS"));
        return node && take_word(s, "_T") ? swift_add(s, node, global(o)) : NULL;
    }
    if (take_word(s, "PA__T")) {
        struct swift_node *node = swift_word(s, SWIFT_PARTIAL, "partial apply forwarder");
        if (node)
            node->brief = "partial apply";
        return swift_add(s, node, global(o));
    }
    if (take_word(s, "TR"))
        return swift_old_reabstraction(o, "reabstraction thunk helper ");
    if (take_word(s, "Tr"))
        return swift_old_reabstraction(o, "reabstraction thunk ");
    if (swift_take(s, 't'))
        return swift_old_type(o);
    if (swift_take(s, 'M'))
        return metadata(o);
    if (take_word(s, "WV"))
        return prefixed(o, "value witness table for ");
    return entity_of(o);
}

struct swift_node *swift_old(struct swift *s)
{
    struct old o = {.s = s};
    struct swift_node *node = global(&o);
    return s->at == s->len ? node : NULL;
}
