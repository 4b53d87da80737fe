/* node.c - see node.h. */
#include "demangle/swift/node.h"

#include <string.h>

struct swift_node *swift_node(struct swift *s, enum swift_kind kind)
{
    struct swift_node *node = arena_alloc(&s->arena, sizeof *node);
    if (node)
        node->kind = kind;
    else
        s->failed = true;
    return node;
}

struct swift_node *swift_word(struct swift *s, enum swift_kind kind, const char *text)
{
    struct swift_node *node = swift_node(s, kind);
    if (node) {
        node->text = text;
        node->len = strlen(text);
    }
    return node;
}

struct swift_node *swift_text(struct swift *s, const char *text)
{
    return swift_word(s, SWIFT_TEXT, text);
}

struct swift_node *swift_renamed(struct swift *s, enum swift_kind kind, const struct swift_node *like)
{
    struct swift_node *node = swift_node(s, kind);
    if (node) {
        node->text = like->text;
        node->len = like->len;
    }
    return node;
}

struct swift_node *swift_indexed(struct swift *s, enum swift_kind kind, const char *text, int index)
{
    struct swift_node *node = index >= 0 ? swift_word(s, kind, text) : NULL;
    if (node)
        node->index = (uint32_t)index;
    return node;
}

struct swift_node *swift_add(struct swift *s, struct swift_node *to, struct swift_node *kid)
{
    if (!to || !kid)
        return NULL;
    if (to->count == to->room) {
        size_t room = to->room ? to->room * 2 : 4;
        struct swift_node **kids = arena_array(&s->arena, room, sizeof(struct swift_node *));
        if (!kids) {
            s->failed = true;
            return NULL;
        }
        if (to->count)
            memcpy(kids, to->kids, to->count * sizeof(struct swift_node *));
        to->kids = kids;
        to->room = room;
    }
    to->kids[to->count++] = kid;
    return to;
}

struct swift_node *swift_add_any(struct swift *s, struct swift_node *to, struct swift_node *kid)
{
    return kid ? swift_add(s, to, kid) : to;
}

struct swift_node *swift_of(struct swift *s, enum swift_kind kind, struct swift_node *a)
{
    return a ? swift_add(s, swift_node(s, kind), a) : NULL;
}

struct swift_node *swift_of_2(struct swift *s, enum swift_kind kind, struct swift_node *a, struct swift_node *b)
{
    return swift_add(s, swift_of(s, kind, a), b);
}

struct swift_node *swift_of_3(struct swift *s, enum swift_kind kind, struct swift_node *a, struct swift_node *b,
                              struct swift_node *c)
{
    return swift_add(s, swift_of_2(s, kind, a, b), c);
}

struct swift_node *swift_joined(struct swift *s, struct swift_node *const *kids, size_t count)
{
    struct swift_node *node = swift_node(s, SWIFT_JOINED);
    for (size_t i = 0; i < count; i++)
        node = swift_add(s, node, kids[i]);
    return node;
}

struct swift_node *swift_type(struct swift *s, struct swift_node *inside)
{
    return swift_of(s, SWIFT_TYPE, inside);
}

void swift_reverse(struct swift_node *node, size_t from)
{
    for (size_t i = from, k = node->count; i + 1 < k; i++) {
        struct swift_node *other = node->kids[i];
        node->kids[i] = node->kids[--k];
        node->kids[k] = other;
    }
}

struct swift_node *swift_find(const struct swift_node *node, enum swift_kind kind)
{
    for (size_t i = 0; i < node->count; i++)
        if (node->kids[i]->kind == kind)
            return node->kids[i];
    return NULL;
}

struct swift_node *swift_inside(struct swift_node *type)
{
    return type && type->kind == SWIFT_TYPE ? type->kids[0] : NULL;
}

bool swift_is(const struct swift_node *node, const char *text)
{
    return node->len == strlen(text) && !memcmp(node->text, text, node->len);
}

bool swift_is_nominal(const struct swift_node *node)
{
    return node && node->kind >= SWIFT_CLASS && node->kind <= SWIFT_OTHER_NOMINAL;
}

bool swift_is_context(const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_MODULE:
    case SWIFT_FUNCTION:
    case SWIFT_VARIABLE:
    case SWIFT_SUBSCRIPT:
    case SWIFT_ACCESSOR:
    case SWIFT_INITIALIZER:
    case SWIFT_PART:
    case SWIFT_PART_OF:
    case SWIFT_CLOSURE:
    case SWIFT_MACRO:
    case SWIFT_EXPANSION:
    case SWIFT_EXTENSION:
    case SWIFT_STATIC:
    case SWIFT_ANONYMOUS:
    case SWIFT_OPAQUE_OF:
    case SWIFT_DERIVATIVE:
        return true;
    default:
        return swift_is_nominal(node);
    }
}
