/*
 * print_entity.c - writes functions, variables and types by name, inside their contexts.
 *
 *     Cart.add(item: Item) -> ()                     context in front, with a dot
 *     closure #1 () -> () in Cart.add(item: Item)    context behind, if the text has blanks or a type
 */
#include "demangle/swift/print.h"

#include <string.h>

enum typed { UNTYPED, COLON, FUNCTION };

struct entity {
    const struct swift_node *node; /* first child: context */
    const struct swift_node *arguments;
    enum typed typed;
    bool named;        /* the name is the second child */
    const char *extra; /* in place of a name, or after it; "": none */
    size_t extra_len;
    const char *instead; /* replaces the name; NULL: no */
};

/* Returns true if a function's type may directly follow a name. */
static bool follows(const struct swift_node *type)
{
    while (type->kind == SWIFT_TYPE)
        type = type->kids[0];
    return type->kind == SWIFT_FUNCTION_TYPE || type->kind == SWIFT_NOESCAPE_TYPE || type->kind == SWIFT_GENERIC_TYPE;
}

static bool is_function(const struct swift_node *type)
{
    while (type->kind == SWIFT_GENERIC_TYPE)
        type = type->kids[1]->kids[0];
    return type->kind == SWIFT_FUNCTION_TYPE || type->kind == SWIFT_NOESCAPE_TYPE ||
           (type->kind == SWIFT_SPECIAL_FUNCTION_TYPE && type->len &&
            memmem(type->text, type->len, "@convention(", 12) && !memmem(type->text, type->len, "block", 5));
}

static void put_arguments(struct swift_printer *p, const struct swift_node *arguments)
{
    swift_put(p, "<");
    swift_put_kids(p, arguments, 0, ", ");
    swift_put(p, ">");
}

static void put_entity_type(struct swift_printer *p, const struct entity *e, const struct swift_node *type)
{
    const struct swift_node *labels = swift_find(e->node, SWIFT_LABELS);
    if (!labels && !e->arguments) {
        swift_put_node(p, type);
        return;
    }
    if (type->kind == SWIFT_GENERIC_TYPE) {
        if (!e->arguments)
            swift_put_node(p, type->kids[0]);
        swift_put(p, follows(type->kids[1]) ? "" : " ");
        type = type->kids[1]->kids[0];
    }
    swift_put_function(p, labels, type);
}

static void put_name(struct swift_printer *p, const struct entity *e, bool words)
{
    const char *extra = e->extra;
    if (extra[0] && words && e->named) {
        swift_put_bytes(p, extra, e->extra_len);
        swift_put(p, " of ");
        extra = "";
    }
    if (e->named || e->instead) {
        size_t from = p->len;
        const struct swift_node *name = e->instead ? NULL : e->node->kids[1];
        const struct swift_node *private = swift_find(e->node, SWIFT_PRIVATE_NAME);
        if (e->instead)
            swift_put(p, e->instead);
        else if (name->kind != SWIFT_PRIVATE_NAME && name->kind != SWIFT_LABELS && name->kind != SWIFT_TYPE)
            swift_put_node(p, name);
        if (!e->instead && private)
            swift_put_node(p, private);
        if (p->len > from && extra[0])
            swift_put(p, ".");
    }
    if (extra[0])
        swift_put_bytes(p, extra, e->extra_len);
    if (e->arguments)
        put_arguments(p, e->arguments);
}

static void put_type(struct swift_printer *p, const struct entity *e, bool words)
{
    const struct swift_node *type = swift_find(e->node, SWIFT_TYPE);
    if (!type || e->typed == UNTYPED) {
        p->failed |= e->typed != UNTYPED;
        return;
    }
    type = type->kids[0];
    if (e->typed == FUNCTION && is_function(type)) {
        swift_put(p, words || !follows(type) ? " " : "");
        put_entity_type(p, e, type);
    } else if (!p->brief) {
        swift_put(p, " : ");
        put_entity_type(p, e, type);
    }
}

/* Returns a node to be written later, as swift_put_prefix does. */
static const struct swift_node *put(struct swift_printer *p, const struct entity *e, bool prefix)
{
    const struct swift_node *node = e->node;
    const struct swift_node *behind = NULL;
    bool words =
        (e->extra[0] && memchr(e->extra, ' ', e->extra_len)) || (e->named && node->kids[1]->kind == SWIFT_LOCAL_NAME);
    if (prefix && (e->typed != UNTYPED || words))
        return node;
    if (words) {
        behind = node->kids[0];
    } else {
        size_t from = p->len;
        behind = swift_put_prefix(p, node->kids[0], true);
        if (p->len > from)
            swift_put(p, ".");
    }
    put_name(p, e, words);
    put_type(p, e, words);
    if (!prefix && behind && !(p->brief && behind->kind == SWIFT_MODULE)) {
        swift_put(p, node->kind == SWIFT_PART_OF ? " of " : " in ");
        swift_put_node(p, behind);
        behind = NULL;
    }
    return behind;
}

static const struct swift_node *put_extension(struct swift_printer *p, const struct swift_node *node)
{
    if (!p->brief) {
        swift_put(p, "(extension in ");
        (void)swift_put_prefix(p, node->kids[0], true);
        swift_put(p, "):");
    }
    swift_put_node(p, node->kids[1]);
    if (node->count == 3 && !p->brief)
        swift_put_node(p, node->kids[2]);
    return NULL;
}

static const struct swift_node *put_anonymous(struct swift_printer *p, const struct swift_node *node)
{
    if (p->brief)
        return NULL;
    swift_put_node(p, node->kids[0]);
    swift_put(p, ".(unknown context at ");
    swift_put_text(p, node->kids[1]);
    swift_put(p, ")");
    return NULL;
}

/* An accessor is written like its variable, with one more word. */
static bool put_accessor(const struct swift_node **behind_out, struct swift_printer *p, struct entity *e, bool prefix)
{
    const struct swift_node *accessor = e->node;
    const struct swift_node *storage = accessor->kids[0];
    e->extra = accessor->text;
    e->extra_len = accessor->len;
    e->typed = COLON;
    e->node = storage;
    e->named = storage->kind == SWIFT_VARIABLE;
    e->instead = storage->kind == SWIFT_SUBSCRIPT ? "subscript" : NULL;
    if (storage->kind != SWIFT_VARIABLE && storage->kind != SWIFT_SUBSCRIPT) {
        p->failed = true;
        return true;
    }
    if (prefix) { /* it has a type, so it is no prefix */
        *behind_out = accessor;
        return true;
    }
    *behind_out = put(p, e, false);
    return true;
}

bool swift_put_entity(const struct swift_node **behind_out, struct swift_printer *p, const struct swift_node *node,
                      bool prefix)
{
    struct entity e = {.node = node, .extra = ""};
    switch (node->kind) {
    case SWIFT_BOUND_FUNCTION:
        e.arguments = node->kids[1];
        e.node = node->kids[0];
        e.named = true;
        e.typed = FUNCTION;
        break;
    case SWIFT_FUNCTION:
        e.named = true;
        e.typed = FUNCTION;
        break;
    case SWIFT_VARIABLE:
        e.named = true;
        e.typed = COLON;
        break;
    case SWIFT_MACRO:
        e.named = true;
        e.typed = node->count == 3 ? COLON : FUNCTION;
        break;
    case SWIFT_SUBSCRIPT:
        e.instead = "subscript";
        e.typed = FUNCTION;
        break;
    case SWIFT_INITIALIZER:
        e.extra = node->text;
        e.extra_len = node->len;
        e.named = node->count > 2;
        e.typed = FUNCTION;
        break;
    case SWIFT_CLOSURE:
        e.typed = p->brief ? UNTYPED : FUNCTION;
        e.extra = node->text;
        e.extra_len = node->len;
        break;
    case SWIFT_EXPANSION:
        e.named = true;
        e.extra = node->text;
        e.extra_len = node->len;
        break;
    case SWIFT_PART:
    case SWIFT_PART_OF:
        e.extra = node->text;
        e.extra_len = node->len;
        break;
    case SWIFT_CLASS:
    case SWIFT_STRUCTURE:
    case SWIFT_ENUM:
    case SWIFT_PROTOCOL:
    case SWIFT_ALIAS:
    case SWIFT_OTHER_NOMINAL:
    case SWIFT_PARAMETER_DECL:
        e.named = true;
        break;
    case SWIFT_ACCESSOR:
        return put_accessor(behind_out, p, &e, prefix);
    case SWIFT_EXTENSION:
        *behind_out = put_extension(p, node);
        return true;
    case SWIFT_ANONYMOUS:
        *behind_out = put_anonymous(p, node);
        return true;
    case SWIFT_STATIC:
        swift_put(p, "static ");
        swift_put_node(p, node->kids[0]);
        return true;
    default:
        return false;
    }
    *behind_out = put(p, &e, prefix);
    return true;
}
