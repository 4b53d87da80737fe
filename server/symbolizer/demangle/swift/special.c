/*
 * special.c - reads functions that the optimizer specialized for certain types or arguments.
 */
#include "demangle/swift/read.h"

/* The common beginning: remarks and the number of the pass. */
static struct swift_node *begin(struct swift *s, const char *text)
{
    struct swift_node *node = swift_word(s, SWIFT_SPECIALIZATION, text);
    if (swift_take(s, 'q'))
        node = swift_add(s, node, swift_text(s, "serialized"));
    if (swift_take(s, 'a'))
        node = swift_add(s, node, swift_text(s, "async demotion"));
    if (swift_take(s, 'r'))
        node = swift_add(s, node, swift_text(s, "representation changed"));
    char pass = swift_next(s);
    return pass >= '0' && pass <= '9' ? node : NULL;
}

static struct swift_node *generic(struct swift *s, const char *text)
{
    struct swift_node *node = begin(s, text);
    struct swift_node *types = node ? swift_pop_types(s) : NULL;
    for (size_t i = 0; types && i < types->count; i++)
        node = swift_add(s, node, types->kids[i]);
    return types ? node : NULL;
}

static const char *generic_text(char letter)
{
    return letter == 'g' || letter == 'B' ? "generic specialization"
           : letter == 'G'                ? "generic not re-abstracted specialization"
           : letter == 's'                ? "generic pre-specialization"
           : letter == 'i'                ? "inlined generic function"
                                          : NULL;
}

/* Dropped arguments are read and not written. */
static struct swift_node *with_dropped(struct swift *s)
{
    do
        (void)swift_natural(s);
    while (swift_take(s, 't'));
    char letter = swift_next(s);
    bool known = letter == 'g' || letter == 'G' || letter == 'B';
    return known ? generic(s, generic_text(letter)) : NULL;
}

static struct swift_node *partial(struct swift *s, const char *text)
{
    struct swift_node *node = begin(s, text);
    struct swift_node *parts[] = {swift_text(s, "Signature = "), node ? swift_pop(s, SWIFT_TYPE) : NULL};
    return swift_add(s, node, swift_joined(s, parts, 2));
}

/*
 * One argument. Its operands are popped later, since the operands of the last argument are on top of the stack. The
 * node's `index` keeps the letter of such an argument.
 */
struct argument {
    char kind;        /* 0: complete; f function, g global, s text, k key path, c closure */
    const char *text; /* prefix of the operands; NULL: the argument is unchanged */
};

#define ARGUMENTS_MAX 256

static bool take_flags(struct swift *s, struct argument *out, const char *first, const char *letters)
{
    static const struct {
        char letter;
        const char *text;
    } flags[] = {{'D', "Dead"}, {'G', "Owned To Guaranteed"}, {'O', "Guaranteed To Owned"}, {'X', "Exploded"}};
    const char *text = first;
    for (; *letters && text; letters++)
        for (size_t i = 0; i < sizeof flags / sizeof *flags && text; i++)
            if (flags[i].letter == *letters && swift_take(s, *letters))
                text = arena_printf(&s->arena, "%s and %s", text, flags[i].text);
    out->text = text;
    return text != NULL;
}

static bool take_number(struct swift *s, struct argument *out, const char *text)
{
    size_t from = s->at;
    while (swift_peek(s) >= '0' && swift_peek(s) <= '9')
        swift_next(s);
    out->text = arena_printf(&s->arena, "[%s : %.*s]", text, (int)(s->at - from), s->text + from);
    return out->text && s->at > from;
}

static bool take_constant(struct swift *s, struct argument *out)
{
    static const struct swift_choice strings[] = {{'b', "[Constant Propagated String : u8'"},
                                                  {'w', "[Constant Propagated String : u16'"},
                                                  {'c', "[Constant Propagated String : objc'"},
                                                  {0}};
    out->kind = swift_next(s);
    switch (out->kind) {
    case 'f':
        out->text = "[Constant Propagated Function : ";
        return true;
    case 'g':
        out->text = "[Constant Propagated Global : ";
        return true;
    case 'k':
        out->text = "[Constant Propagated KeyPath : ";
        return true;
    case 's':
        out->text = swift_take_one(s, strings);
        return out->text != NULL;
    case 'i':
        out->kind = '\0';
        return take_number(s, out, "Constant Propagated Integer");
    case 'd':
        out->kind = '\0';
        return take_number(s, out, "Constant Propagated Float");
    default:
        return false;
    }
}

static bool take_argument(struct swift *s, struct argument *out)
{
    *out = (struct argument){0};
    switch (swift_next(s)) {
    case 'n':
        return true;
    case 'c':
    case 'E':
        *out = (struct argument){'c', "[Closure Propagated : "};
        return true;
    case 'C':
        return take_number(s, out, "Same As Argument");
    case 'p':
        return take_constant(s, out);
    case 'e':
        return take_flags(s, out, "Existential To Protocol Constrained Generic", "DGOX");
    case 'd':
        return take_flags(s, out, "Dead", "GOX");
    case 'g':
        return take_flags(s, out, "Owned To Guaranteed", "X");
    case 'o':
        return take_flags(s, out, "Guaranteed To Owned", "X");
    case 'x':
        out->text = "Exploded";
        return true;
    case 'i':
        out->text = "Value Promoted from Box";
        return true;
    case 's':
        out->text = "Stack Promoted from Box";
        return true;
    case 'r':
        out->text = "InOut Converted to Out";
        return true;
    default:
        return false;
    }
}

static struct swift_node *plain(struct swift *s, const struct swift_node *name)
{
    const char *text = name->text;
    size_t len = name->len;
    if (len && text[0] == '_') { /* separates a text from a leading digit */
        text++;
        len--;
    }
    char *copy = arena_copy(&s->arena, text, len);
    return copy ? swift_text(s, copy) : NULL;
}

/* An argument with its operands from the stack. */
static struct swift_node *complete(struct swift *s, const struct argument *argument)
{
    if (!argument->kind)
        return swift_text(s, argument->text);
    bool typed = argument->kind == 'c' || argument->kind == 'k';
    struct swift_node *types = swift_node(s, SWIFT_TYPE_LIST);
    for (struct swift_node *type; typed && (type = swift_pop(s, SWIFT_TYPE));)
        types = swift_add(s, types, type);
    struct swift_node *name = swift_pop(s, SWIFT_IDENTIFIER);
    if (!name || !types)
        return NULL;
    swift_reverse(types, 0);
    bool nested = argument->kind == 'f' || argument->kind == 'g' || argument->kind == 'c';
    struct swift_node *text = nested                  ? swift_nested(s, name->text, name->len)
                              : argument->kind == 's' ? plain(s, name)
                                                      : name;
    if (argument->kind == 'k')
        types->text = ",";
    types->len = types->text ? 1 : 0;
    struct swift_node *parts[] = {swift_text(s, argument->text), text,
                                  swift_text(s, argument->kind == 'c'   ? ", Argument Types : ["
                                                : argument->kind == 'k' ? "<"
                                                : argument->kind == 's' ? "'"
                                                                        : ""),
                                  types, swift_text(s, argument->kind == 'k' ? ">]" : "]")};
    return swift_joined(s, parts, 5);
}

static struct swift_node *of_signature(struct swift *s)
{
    struct swift_node *node = begin(s, "function signature specialization");
    struct argument arguments[ARGUMENTS_MAX];
    size_t count = 0;
    while (node && !swift_take(s, '_'))
        if (count + 1 == ARGUMENTS_MAX || !take_argument(s, &arguments[count++]))
            return NULL;
    if (!node || !take_argument(s, &arguments[count])) /* the return value */
        return NULL;
    size_t first = node->count;
    if (arguments[count].text) {
        struct swift_node *parts[] = {swift_text(s, "Return = "),
                                      swift_text(s, arguments[count].kind ? "" : arguments[count].text)};
        node = swift_add(s, node, swift_joined(s, parts, 2));
    }
    for (size_t i = count; i-- > 0 && node;) {
        char *number = arguments[i].text ? arena_printf(&s->arena, "Arg[%zu] = ", i) : NULL;
        if (!arguments[i].text)
            continue;
        struct swift_node *parts[] = {number ? swift_text(s, number) : NULL, complete(s, &arguments[i])};
        node = swift_add(s, node, swift_joined(s, parts, 2));
    }
    if (node)
        swift_reverse(node, first);
    return node;
}

struct swift_node *swift_specialization(struct swift *s, char letter)
{
    if (generic_text(letter))
        return generic(s, generic_text(letter));
    switch (letter) {
    case 't':
        return with_dropped(s);
    case 'p':
        return partial(s, "generic partial specialization");
    case 'P':
        return partial(s, "generic not-reabstracted partial specialization");
    case 'f':
        return of_signature(s);
    default:
        return NULL;
    }
}
