/* stack.c - reads bytes and numbers, and implements the stack. See read.h. */
#include "demangle/swift/read.h"

#define NATURAL_MAX (1 << 20)
#define STACK_MAX   (1 << 14)

char swift_peek(const struct swift *s)
{
    return s->at < s->len ? s->text[s->at] : '\0';
}

char swift_next(struct swift *s)
{
    return s->at < s->len ? s->text[s->at++] : '\0';
}

bool swift_take(struct swift *s, char c)
{
    if (s->at >= s->len || s->text[s->at] != c)
        return false;
    s->at++;
    return true;
}

const char *swift_take_one(struct swift *s, const struct swift_choice *choices)
{
    for (; choices->text; choices++)
        if (swift_take(s, choices->letter))
            return choices->text;
    return NULL;
}

int swift_natural(struct swift *s)
{
    int value = -1;
    while (s->at < s->len && s->text[s->at] >= '0' && s->text[s->at] <= '9') {
        value = (value < 0 ? 0 : value) * 10 + (s->text[s->at++] - '0');
        if (value > NATURAL_MAX)
            return -1;
    }
    return value;
}

int swift_index(struct swift *s)
{
    if (swift_take(s, '_'))
        return 0;
    int value = swift_natural(s);
    return value >= 0 && swift_take(s, '_') ? value + 1 : -1;
}

bool swift_push(struct swift *s, struct swift_node *node)
{
    return node && s->stack->count < STACK_MAX && swift_add(s, s->stack, node);
}

struct swift_node *swift_pop_any(struct swift *s)
{
    return s->stack->count ? s->stack->kids[--s->stack->count] : NULL;
}

static struct swift_node *top(const struct swift *s)
{
    return s->stack->count ? s->stack->kids[s->stack->count - 1] : NULL;
}

struct swift_node *swift_pop(struct swift *s, enum swift_kind kind)
{
    return top(s) && top(s)->kind == kind ? swift_pop_any(s) : NULL;
}

struct swift_node *swift_pop_name(struct swift *s)
{
    return top(s) && top(s)->kind <= SWIFT_RELATED_NAME ? swift_pop_any(s) : NULL;
}

struct swift_node *swift_pop_module(struct swift *s)
{
    struct swift_node *name = swift_pop(s, SWIFT_IDENTIFIER);
    return name ? swift_renamed(s, SWIFT_MODULE, name) : swift_pop(s, SWIFT_MODULE);
}

struct swift_node *swift_pop_inside(struct swift *s)
{
    return swift_inside(swift_pop(s, SWIFT_TYPE));
}

struct swift_node *swift_pop_nominal(struct swift *s)
{
    struct swift_node *inside = swift_pop_inside(s);
    return swift_is_nominal(inside) ? inside : NULL;
}

struct swift_node *swift_pop_context(struct swift *s)
{
    struct swift_node *module = swift_pop_module(s);
    if (module)
        return module;
    if (top(s) && top(s)->kind == SWIFT_TYPE) {
        struct swift_node *inside = swift_pop_inside(s);
        return swift_is_context(inside) ? inside : NULL;
    }
    return top(s) && swift_is_context(top(s)) ? swift_pop_any(s) : NULL;
}

struct swift_node *swift_pop_entity(struct swift *s)
{
    return top(s) && (top(s)->kind == SWIFT_TYPE || swift_is_context(top(s))) ? swift_pop_any(s) : NULL;
}

struct swift_node *swift_pop_protocol(struct swift *s)
{
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    if (type)
        return type->kids[0]->kind == SWIFT_PROTOCOL ? type : NULL;
    struct swift_node *name = swift_pop_name(s);
    struct swift_node *context = swift_pop_context(s);
    return swift_type(s, swift_of_2(s, SWIFT_PROTOCOL, context, name));
}

struct swift_node *swift_pop_conformance(struct swift *s)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    struct swift_node *module = swift_pop_module(s);
    struct swift_node *protocol = swift_pop_protocol(s);
    struct swift_node *type = swift_pop(s, SWIFT_TYPE);
    struct swift_node *name = NULL;
    if (!type) { /* of a property behavior */
        name = swift_pop(s, SWIFT_IDENTIFIER);
        type = swift_pop(s, SWIFT_TYPE);
    }
    if (signature)
        type = swift_type(s, swift_of_2(s, SWIFT_GENERIC_TYPE, signature, type));
    return swift_add_any(s, swift_of_3(s, SWIFT_CONFORMANCE, type, protocol, module), name);
}

struct swift_node *swift_pop_list(struct swift *s, enum swift_kind kind, struct swift_node *(*element)(struct swift *))
{
    struct swift_node *list = swift_node(s, kind);
    if (!list || swift_pop(s, SWIFT_EMPTY_LIST))
        return list;
    for (bool first = false; !first && list;) {
        first = swift_pop(s, SWIFT_FIRST_ELEMENT) != NULL;
        list = swift_add(s, list, element(s));
    }
    if (list)
        swift_reverse(list, 0);
    return list;
}

static struct swift_node *pop_type(struct swift *s)
{
    return swift_pop(s, SWIFT_TYPE);
}

struct swift_node *swift_pop_types(struct swift *s)
{
    return swift_pop_list(s, SWIFT_TYPE_LIST, pop_type);
}

struct swift_node *swift_remember(struct swift *s, struct swift_node *node)
{
    return node && swift_add(s, s->substitutions, node) ? node : NULL;
}
