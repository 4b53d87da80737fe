/*
 * old_types.c - types, contexts, protocols and substitutions of Swift 3 names: see old.c.
 */
#include "demangle/swift/old.h"

#include <string.h>

#define DEPTH_MAX 100

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
        node = swift_old_entity(o);
    } else if (letter == 'P' || letter == 'G') {
        node = swift_inside(swift_old_type(o));
    } else {
        node = module_of(o);
    }
    o->depth--;
    return node;
}

struct swift_node *swift_old_nominal(struct old *o, enum swift_kind kind)
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
        return swift_old_nominal(o, SWIFT_PROTOCOL);
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
        return swift_old_nominal(o, SWIFT_ALIAS);
    case 'C':
        return swift_old_nominal(o, SWIFT_CLASS);
    case 'V':
        return swift_old_nominal(o, SWIFT_STRUCTURE);
    case 'O':
        return swift_old_nominal(o, SWIFT_ENUM);
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
