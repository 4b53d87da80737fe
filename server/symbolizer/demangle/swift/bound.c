/*
 * bound.c - applies generic arguments to a type and its outer types, the innermost first.
 */
#include "demangle/swift/read.h"

#define DEPTH_MAX 64

bool swift_arguments(struct swift *s, struct swift_node **lists_out, struct swift_node **conformances_out)
{
    struct swift_node *conformances = NULL;
    struct swift_node *lists = swift_node(s, SWIFT_ALL);
    for (struct swift_node *one; (one = swift_pop(s, SWIFT_RETROACTIVE));)
        conformances = swift_add(s, conformances ? conformances : swift_node(s, SWIFT_TYPE_LIST), one);
    for (bool more = true; more && lists;) {
        struct swift_node *list = swift_node(s, SWIFT_TYPE_LIST);
        for (struct swift_node *type; (type = swift_pop(s, SWIFT_TYPE));)
            list = swift_add(s, list, type);
        if (!list)
            return false;
        swift_reverse(list, 0);
        lists = swift_add(s, lists, list);
        more = !swift_pop(s, SWIFT_EMPTY_LIST);
        if (more && !swift_pop(s, SWIFT_FIRST_ELEMENT))
            return false;
    }
    *lists_out = lists;
    *conformances_out = conformances;
    return lists != NULL;
}

static bool takes_arguments(const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_VARIABLE:
    case SWIFT_SUBSCRIPT:
    case SWIFT_CLOSURE:
    case SWIFT_PART_OF:
    case SWIFT_STATIC:
        return false;
    default:
        return true;
    }
}

static struct swift_node *bind(struct swift *s, struct swift_node *nominal, const struct swift_node *lists, size_t list,
                               unsigned depth);

/* Copy a node into the context that got the arguments. */
static struct swift_node *in_context(struct swift *s, const struct swift_node *node, struct swift_node *context)
{
    struct swift_node *copy = swift_node(s, node->kind);
    if (!copy)
        return NULL;
    copy->text = node->text;
    copy->len = node->len;
    copy->brief = node->brief;
    copy->index = node->index;
    copy = swift_add(s, copy, context);
    for (size_t i = 1; i < node->count; i++)
        copy = swift_add(s, copy, node->kids[i]);
    return copy;
}

static struct swift_node *bind_context(struct swift *s, struct swift_node *context, const struct swift_node *lists,
                                       size_t list, unsigned depth)
{
    if (context->kind != SWIFT_EXTENSION)
        return bind(s, context, lists, list, depth);
    struct swift_node *extension =
        swift_of_2(s, SWIFT_EXTENSION, context->kids[0], bind(s, context->kids[1], lists, list, depth));
    return context->count == 3 ? swift_add(s, extension, context->kids[2]) : extension;
}

static struct swift_node *bind(struct swift *s, struct swift_node *nominal, const struct swift_node *lists, size_t list,
                               unsigned depth)
{
    if (!nominal || !nominal->count || list >= lists->count || depth > DEPTH_MAX)
        return NULL;
    bool takes = takes_arguments(nominal);
    struct swift_node *arguments = lists->kids[list];
    list += takes;
    if (list < lists->count)
        nominal = in_context(s, nominal, bind_context(s, nominal->kids[0], lists, list, depth + 1));
    if (!takes || !nominal || !arguments->count)
        return nominal;
    if (swift_is_nominal(nominal)) {
        struct swift_node *bound = swift_of_2(s, SWIFT_BOUND, swift_type(s, nominal), arguments);
        if (bound)
            bound->index = nominal->kind;
        return bound;
    }
    bool function = nominal->kind == SWIFT_FUNCTION || nominal->kind == SWIFT_INITIALIZER;
    return function ? swift_of_2(s, SWIFT_BOUND_FUNCTION, nominal, arguments) : NULL;
}

struct swift_node *swift_bound(struct swift *s)
{
    struct swift_node *lists;
    struct swift_node *conformances;
    if (!swift_arguments(s, &lists, &conformances))
        return NULL;
    struct swift_node *bound = bind(s, swift_pop_nominal(s), lists, 0, 0);
    return swift_remember(s, swift_type(s, swift_add_any(s, bound, conformances)));
}
