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

struct swift_node *swift_old_entity(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'Z'))
        return swift_of(s, SWIFT_STATIC, swift_old_entity(o));
    char letter = swift_next(s);
    if (letter == 'C')
        return swift_old_nominal(o, SWIFT_CLASS);
    if (letter == 'V')
        return swift_old_nominal(o, SWIFT_STRUCTURE);
    if (letter == 'O')
        return swift_old_nominal(o, SWIFT_ENUM);
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
    return swift_old_entity(o);
}

struct swift_node *swift_old(struct swift *s)
{
    struct old o = {.s = s};
    struct swift_node *node = global(&o);
    return s->at == s->len ? node : NULL;
}
