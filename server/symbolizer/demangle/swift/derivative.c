/*
 * derivative.c - reads the compiler's derivatives of differentiable functions.
 */
#include "demangle/swift/read.h"

static struct swift_node *kind_of(struct swift *s)
{
    static const struct swift_choice kinds[] = {{'f', "forward-mode derivative"},
                                                {'r', "reverse-mode derivative"},
                                                {'d', "differential"},
                                                {'p', "pullback"},
                                                {0}};
    const char *text = swift_take_one(s, kinds);
    return text ? swift_text(s, text) : NULL;
}

/* {0, 2} for SUS, and the letter after it. */
static struct swift_node *subset(struct swift *s, char behind)
{
    const char *text = "{";
    bool any = false;
    size_t from = s->at;
    for (size_t i = 0; text && (swift_peek(s) == 'S' || swift_peek(s) == 'U'); i++)
        if (swift_next(s) == 'S') {
            text = arena_printf(&s->arena, "%s%s%zu", text, any ? ", " : "", i);
            any = true;
        }
    text = text ? arena_printf(&s->arena, "%s}", text) : NULL;
    return text && s->at > from && swift_take(s, behind) ? swift_text(s, text) : NULL;
}

/* Pop everything on the stack. */
static struct swift_node *take_all(struct swift *s)
{
    struct swift_node *all = swift_node(s, SWIFT_ALL);
    for (struct swift_node *one; (one = swift_pop_any(s));)
        all = swift_add(s, all, one);
    if (!all || !all->count)
        return NULL;
    swift_reverse(all, 0);
    return all;
}

static struct swift_node *add_subsets(struct swift *s, struct swift_node *node)
{
    struct swift_node *parameters = subset(s, 'p');
    struct swift_node *results = parameters ? subset(s, 'r') : NULL;
    node = swift_add(s, swift_add(s, node, swift_text(s, " with respect to parameters ")), parameters);
    return swift_add(s, swift_add(s, node, swift_text(s, " and results ")), results);
}

static struct swift_node *add_signature(struct swift *s, struct swift_node *node, struct swift_node *signature)
{
    return signature ? swift_add(s, swift_add(s, node, swift_text(s, " with ")), signature) : node;
}

static struct swift_node *of_function(struct swift *s, const char *text)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *all = take_all(s);
    struct swift_node *node = swift_add(s, swift_word(s, SWIFT_DERIVATIVE, text), kind_of(s));
    node = swift_add(s, swift_add(s, node, swift_text(s, " of ")), all);
    return add_signature(s, add_subsets(s, node), signature);
}

static struct swift_node *reordering(struct swift *s)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *to = swift_pop(s, SWIFT_TYPE);
    struct swift_node *from = swift_pop(s, SWIFT_TYPE);
    struct swift_node *parts[] = {swift_text(s, "autodiff self-reordering reabstraction thunk for "),
                                  kind_of(s),
                                  signature ? signature : swift_text(s, ""),
                                  swift_text(s, " from "),
                                  from,
                                  swift_text(s, " to "),
                                  to};
    return swift_joined(s, parts, 7);
}

static struct swift_node *of_subset(struct swift *s)
{
    struct swift_node *all = take_all(s);
    if (!all)
        return NULL;
    struct swift_node *to = all->count > 1 ? all->kids[--all->count] : NULL;
    struct swift_node *node = swift_word(s, SWIFT_DERIVATIVE, "autodiff subset parameters thunk for ");
    node = swift_add(s, node, kind_of(s));
    node = add_subsets(s, swift_add(s, swift_add(s, node, swift_text(s, " from ")), all));
    node = swift_add(s, swift_add(s, node, swift_text(s, " to parameters ")), subset(s, 'P'));
    return to ? swift_add(s, swift_add(s, node, swift_text(s, " of type ")), to) : node;
}

struct swift_node *swift_derivative(struct swift *s)
{
    if (swift_take(s, 'O'))
        return reordering(s);
    if (swift_take(s, 'S'))
        return of_subset(s);
    return of_function(s, swift_take(s, 'V') ? "vtable thunk for " : "");
}

struct swift_node *swift_derivative_witness(struct swift *s)
{
    static const struct swift_choice kinds[] = {{'f', "forward-mode differentiability witness for "},
                                                {'r', "reverse-mode differentiability witness for "},
                                                {'d', "normal differentiability witness for "},
                                                {'l', "linear differentiability witness for "},
                                                {0}};
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *all = take_all(s);
    const char *text = swift_take_one(s, kinds);
    struct swift_node *node = text ? swift_add(s, swift_word(s, SWIFT_DERIVATIVE, text), all) : NULL;
    return add_signature(s, add_subsets(s, node), signature);
}
