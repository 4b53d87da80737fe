/*
 * entities.c - reads functions, variables, closures and similar entities, and their contexts.
 */
#include "demangle/swift/read.h"

#include <string.h>

struct swift_node *swift_any_type(struct swift *s, enum swift_kind kind)
{
    struct swift_node *name = swift_pop_name(s);
    struct swift_node *context = swift_pop_context(s);
    return swift_remember(s, swift_type(s, swift_of_2(s, kind, context, name)));
}

struct swift_node *swift_extension(struct swift *s)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *module = swift_pop_module(s);
    struct swift_node *type = swift_pop_nominal(s);
    return swift_add_any(s, swift_of_2(s, SWIFT_EXTENSION, module, type), signature);
}

static struct swift_node *related(struct swift *s)
{
    struct swift_node *node = swift_node(s, SWIFT_RELATED_NAME);
    if (node) {
        node->text = s->text + s->at++;
        node->len = 1;
    }
    return swift_add(s, node, swift_pop_any(s));
}

struct swift_node *swift_local_name(struct swift *s)
{
    if (swift_take(s, 'L')) {
        struct swift_node *discriminator = swift_pop(s, SWIFT_IDENTIFIER);
        return swift_of_2(s, SWIFT_PRIVATE_NAME, discriminator, swift_pop_name(s));
    }
    if (swift_take(s, 'l'))
        return swift_of(s, SWIFT_PRIVATE_NAME, swift_pop(s, SWIFT_IDENTIFIER));
    char letter = swift_peek(s);
    if ((letter >= 'a' && letter <= 'j') || (letter >= 'A' && letter <= 'J'))
        return related(s);
    struct swift_node *node = swift_indexed(s, SWIFT_LOCAL_NAME, "", swift_index(s));
    return swift_add(s, node, swift_pop_name(s));
}

/* Move the label of an argument out of its type, as in Swift 4.0. */
static struct swift_node *label_of(struct swift *s, struct swift_node *tuple, size_t i)
{
    struct swift_node *element = tuple->kids[i];
    for (size_t k = 0; k < element->count; k++) {
        if (element->kids[k]->kind != SWIFT_ELEMENT_NAME)
            continue;
        struct swift_node *label = swift_renamed(s, SWIFT_IDENTIFIER, element->kids[k]);
        memmove(element->kids + k, element->kids + k + 1, (--element->count - k) * sizeof element->kids[0]);
        return label;
    }
    return swift_node(s, SWIFT_FIRST_ELEMENT);
}

/* The type of the arguments in a function's type. */
static struct swift_node *arguments_of(struct swift_node *type)
{
    struct swift_node *function = swift_inside(type);
    if (function && function->kind == SWIFT_GENERIC_TYPE)
        function = swift_inside(function->kids[1]);
    if (!function || (function->kind != SWIFT_FUNCTION_TYPE && function->kind != SWIFT_NOESCAPE_TYPE))
        return NULL;
    return function->kids[function->count - 2]->kids[0]->kids[0];
}

struct swift_node *swift_labels(struct swift *s, struct swift_node *type)
{
    if (!s->labels_in_types && swift_pop(s, SWIFT_EMPTY_LIST))
        return swift_node(s, SWIFT_LABELS);
    struct swift_node *arguments = arguments_of(type);
    bool tuple = arguments && arguments->kind == SWIFT_TUPLE;
    size_t count = tuple ? arguments->count : 1;
    if (!arguments || !count)
        return NULL;
    struct swift_node *labels = swift_node(s, SWIFT_LABELS);
    bool any = false;
    if (s->labels_in_types && !tuple)
        return labels;
    for (size_t i = 0; i < count && labels; i++) {
        struct swift_node *label = s->labels_in_types ? label_of(s, arguments, i) : swift_pop_any(s);
        if (!label || (label->kind != SWIFT_IDENTIFIER && label->kind != SWIFT_FIRST_ELEMENT)) {
            s->failed = true;
            return NULL;
        }
        any |= label->kind == SWIFT_IDENTIFIER;
        labels = swift_add(s, labels, label);
    }
    if (!any || !labels)
        return swift_node(s, SWIFT_LABELS);
    if (!s->labels_in_types)
        swift_reverse(labels, 0);
    return labels;
}

struct swift_node *swift_function(struct swift *s)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *type = swift_function_type(s, SWIFT_FUNCTION_TYPE, "", false);
    struct swift_node *labels = swift_labels(s, type);
    if (signature)
        type = swift_type(s, swift_of_2(s, SWIFT_GENERIC_TYPE, signature, type));
    struct swift_node *name = swift_pop_name(s);
    struct swift_node *context = swift_pop_context(s);
    return swift_add(s, swift_add_any(s, swift_of_2(s, SWIFT_FUNCTION, context, name), labels), type);
}

static const char *accessor_name(struct swift *s)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'m', "materializeForSet"},
                 {'s', "setter"},
                 {'g', "getter"},
                 {'G', "getter"},
                 {'w', "willset"},
                 {'W', "didset"},
                 {'r', "read"},
                 {'y', "read2"},
                 {'M', "modify"},
                 {'x', "modify2"},
                 {'i', "init"},
                 {'b', "borrow"},
                 {'z', "mutate"}};
    static const struct {
        char letter;
        const char *of_a;
        const char *of_l;
    } addressors[] = {{'u', "unsafeMutableAddressor", "unsafeAddressor"},
                      {'O', "owningMutableAddressor", "owningAddressor"},
                      {'o', "nativeOwningMutableAddressor", "nativeOwningAddressor"},
                      {'p', "nativePinningMutableAddressor", "nativePinningAddressor"}};
    char letter = swift_next(s);
    char second = letter == 'a' || letter == 'l' ? swift_next(s) : '\0';
    for (size_t i = 0; second && i < sizeof addressors / sizeof *addressors; i++)
        if (addressors[i].letter == second)
            return letter == 'a' ? addressors[i].of_a : addressors[i].of_l;
    for (size_t i = 0; !second && i < sizeof names / sizeof *names; i++)
        if (names[i].letter == letter)
            return names[i].name;
    return NULL;
}

static struct swift_node *accessor(struct swift *s, struct swift_node *of)
{
    if (swift_take(s, 'p'))
        return of;
    const char *name = accessor_name(s);
    return name ? swift_add(s, swift_word(s, SWIFT_ACCESSOR, name), of) : NULL;
}

static struct swift_node *named(struct swift *s, enum swift_kind kind)
{
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *labels = swift_labels(s, type);
    struct swift_node *name = swift_pop_name(s);
    struct swift_node *context = swift_pop_context(s);
    return swift_add(s, swift_add_any(s, swift_of_2(s, kind, context, name), labels), type);
}

struct swift_node *swift_variable(struct swift *s)
{
    return accessor(s, named(s, SWIFT_VARIABLE));
}

struct swift_node *swift_subscript(struct swift *s)
{
    struct swift_node *private = swift_pop(s, SWIFT_PRIVATE_NAME);
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *labels = swift_labels(s, type);
    struct swift_node *node = swift_of(s, SWIFT_SUBSCRIPT, swift_pop_context(s));
    node = swift_add(s, swift_add_any(s, node, labels), type);
    return accessor(s, swift_add_any(s, node, private));
}

/* An unnamed part of a context. */
static struct swift_node *nameless(struct swift *s, enum swift_kind kind, const char *of_class, const char *text)
{
    struct swift_node *context = swift_pop_context(s);
    if (!context)
        return NULL;
    return swift_add(s, swift_word(s, kind, context->kind == SWIFT_CLASS ? of_class : text), context);
}

static struct swift_node *initializer(struct swift *s, bool allocating)
{
    struct swift_node *private = swift_pop(s, SWIFT_PRIVATE_NAME);
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *labels = swift_labels(s, type);
    struct swift_node *node = nameless(s, SWIFT_INITIALIZER, allocating ? "__allocating_init" : "init", "init");
    node = swift_add(s, swift_add_any(s, node, labels), type);
    return swift_add_any(s, node, private);
}

static struct swift_node *closure(struct swift *s, const char *what)
{
    int index = swift_index(s);
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *context = swift_pop_context(s);
    char *text = index >= 0 ? arena_printf(&s->arena, "%sclosure #%d", what, index + 1) : NULL;
    return text ? swift_add(s, swift_add(s, swift_word(s, SWIFT_CLOSURE, text), context), type) : NULL;
}

static struct swift_node *default_argument(struct swift *s)
{
    int index = swift_index(s);
    char *text = index >= 0 ? arena_printf(&s->arena, "default argument %d", index) : NULL;
    return text ? nameless(s, SWIFT_PART_OF, text, text) : NULL;
}

/* The position of a freestanding macro in a file. */
static struct swift_node *macro_place(struct swift *s)
{
    int line = swift_index(s);
    int column = swift_index(s);
    struct swift_node *file = swift_pop(s, SWIFT_IDENTIFIER);
    struct swift_node *module = swift_pop_module(s);
    if (line < 0 || column < 0 || !file || !module)
        return NULL;
    char *text = arena_printf(&s->arena, "module %.*s file %.*s line %d column %d", (int)module->len, module->text,
                              (int)file->len, file->text, line, column);
    return text ? swift_word(s, SWIFT_MODULE, text) : NULL;
}

static struct swift_node *expansion(struct swift *s)
{
    static const struct {
        char letter;
        bool attached;
        const char *text;
    } kinds[] = {{'f', false, "freestanding macro expansion"},
                 {'u', false, "unique name"},
                 {'a', true, "accessor macro"},
                 {'r', true, "member attribute macro"},
                 {'m', true, "member macro"},
                 {'p', true, "peer macro"},
                 {'c', true, "conformance macro"},
                 {'e', true, "extension macro"},
                 {'q', true, "preamble macro"},
                 {'b', true, "body macro"}};
    char letter = swift_next(s);
    if (letter == 'X')
        return macro_place(s);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].letter != letter)
            continue;
        struct swift_node *macro = swift_pop(s, SWIFT_IDENTIFIER);
        struct swift_node *private = letter == 'f' ? swift_pop(s, SWIFT_PRIVATE_NAME) : NULL;
        struct swift_node *name = kinds[i].attached ? swift_pop_name(s) : macro;
        struct swift_node *context = swift_pop_context(s);
        int index = swift_index(s);
        if (!macro || index < 0)
            return NULL;
        char *text = kinds[i].attached ? arena_printf(&s->arena, "%s @%.*s expansion #%d", kinds[i].text,
                                                      (int)macro->len, macro->text, index + 1)
                                       : arena_printf(&s->arena, "%s #%d", kinds[i].text, index + 1);
        struct swift_node *node = text ? swift_add(s, swift_word(s, SWIFT_EXPANSION, text), context) : NULL;
        return swift_add_any(s, swift_add(s, node, name), private);
    }
    return NULL;
}

/* Parts of a context by their letter. */
static const struct {
    char letter;
    enum swift_kind kind;
    const char *of_class;
    const char *text; /* of other types; NULL: the same */
} parts[] = {
    {'D', SWIFT_PART, "__deallocating_deinit", "deinit"},
    {'Z', SWIFT_PART, "__isolated_deallocating_deinit", "deinit"},
    {'d', SWIFT_PART, "deinit", NULL},
    {'E', SWIFT_PART, "__ivar_destroyer", NULL},
    {'e', SWIFT_PART, "__ivar_initializer", NULL},
    {'i', SWIFT_PART_OF, "variable initialization expression", NULL},
    {'P', SWIFT_PART_OF, "property wrapper backing initializer", NULL},
    {'W', SWIFT_PART_OF, "property wrapper init from projected value", NULL},
    {'F', SWIFT_PART_OF, "property wrapped field init accessor", NULL},
    {'a', SWIFT_PART_OF, "runtime attribute generator", NULL},
};

struct swift_node *swift_part(struct swift *s)
{
    char letter = swift_next(s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].letter == letter)
            return nameless(s, parts[i].kind, parts[i].of_class, parts[i].text ? parts[i].text : parts[i].of_class);
    switch (letter) {
    case 'C':
        return initializer(s, true);
    case 'c':
        return initializer(s, false);
    case 'U':
        return closure(s, "");
    case 'u':
        return closure(s, "implicit ");
    case 'A':
        return default_argument(s);
    case 'm':
        return named(s, SWIFT_MACRO);
    case 'M':
        return expansion(s);
    case 'p':
        return named(s, SWIFT_PARAMETER_DECL);
    default:
        return NULL;
    }
}
