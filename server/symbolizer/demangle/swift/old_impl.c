/*
 * old_impl.c - reads function types of Swift 3's intermediate language (SIL), and thunks between two of them. Types are
 * nested in the name; later manglings have them before the operator.
 *
 *     XF o Cb _ iSi _ zoPs5Error_ _      callee, convention, parameters, results; z: an error
 *
 * Those of generic functions stay mangled.
 */
#include "demangle/swift/old.h"

struct passing { /* calling convention of a value */
    char letter;
    const char *callee, *parameter, *result; /* NULL: not possible */
};

static const struct passing ways[] = {
    {'a', NULL, NULL, "@autoreleased"},
    {'d', "@callee_unowned", "@unowned", "@unowned"},
    {'D', NULL, NULL, "@unowned_inner_pointer"},
    {'g', "@callee_guaranteed", "@guaranteed", NULL},
    {'e', NULL, "@deallocating", NULL},
    {'i', NULL, "@in", "@out"},
    {'l', NULL, "@inout", NULL},
    {'o', "@callee_owned", "@owned", "@owned"},
    {'t', "@convention(thin)", NULL, NULL},
};

/* The convention of the next letter; NULL: unknown. */
static const struct passing *take_way(struct swift *s)
{
    char letter = swift_next(s);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].letter == letter)
            return &ways[i];
    return NULL;
}

static struct swift_node *word(struct swift *s, const char *text)
{
    return text ? swift_word(s, SWIFT_IMPL_WORD, text) : NULL;
}

static struct swift_node *part(struct old *o, enum swift_kind kind)
{
    struct swift *s = o->s;
    struct swift_node *node = swift_node(s, kind);
    if (kind == SWIFT_IMPL_RESULT && swift_take(s, 'z'))
        node = swift_add(s, node, word(s, "@error"));
    const struct passing *way = take_way(s);
    if (!way)
        return NULL;
    node = swift_add(s, node, word(s, kind == SWIFT_IMPL_RESULT ? way->result : way->parameter));
    return node ? swift_add(s, node, swift_old_type(o)) : NULL;
}

static struct swift_node *parts(struct old *o, struct swift_node *type, enum swift_kind kind)
{
    while (type && !swift_take(o->s, '_'))
        type = swift_add(o->s, type, part(o, kind));
    return type;
}

struct swift_node *swift_old_impl(struct old *o)
{
    static const struct swift_choice conventions[] = {
        {'b', "@convention(block)"},          {'c', "@convention(c)"},
        {'m', "@convention(method)"},         {'O', "@convention(objc_method)"},
        {'w', "@convention(witness_method)"}, {0}};
    struct swift *s = o->s;
    const struct passing *way = take_way(s);
    struct swift_node *type = way ? swift_add(s, swift_node(s, SWIFT_IMPL_FUNCTION), word(s, way->callee)) : NULL;
    if (type && swift_take(s, 'C'))
        type = swift_add(s, type, word(s, swift_take_one(s, conventions)));
    if (!type || !swift_take(s, '_'))
        return NULL;
    return parts(o, parts(o, type, SWIFT_IMPL_PARAMETER), SWIFT_IMPL_RESULT);
}

struct swift_node *swift_old_reabstraction(struct old *o, const char *text)
{
    struct swift *s = o->s;
    struct swift_node *from = swift_old_type(o);
    struct swift_node *to = from ? swift_old_type(o) : NULL;
    struct swift_node *node = swift_add(s, swift_add(s, swift_word(s, SWIFT_THUNK, text), from), to);
    if (node)
        node->index = 1; /* short style shows the called type */
    return node;
}
