/*
 * print_function.c - writes types of functions, as in the language and as in the intermediate language (SIL).
 */
#include "demangle/swift/print.h"

static void put_front(struct swift_printer *p, const struct swift_node *function)
{
    const struct swift_node *c_type = swift_find(function, SWIFT_C_TYPE);
    if (!c_type) {
        swift_put_text(p, function);
        return;
    }
    swift_put_bytes(p, function->text, function->len - 2); /* without ") " */
    swift_put(p, ", mangledCType: \"");
    swift_put_text(p, c_type);
    swift_put(p, "\") ");
}

static void put_label(struct swift_printer *p, const struct swift_node *labels, size_t i)
{
    const struct swift_node *label = i < labels->count ? labels->kids[i] : NULL;
    if (label && label->kind == SWIFT_IDENTIFIER)
        swift_put_node(p, label);
    else
        swift_put(p, "_");
    swift_put(p, p->brief ? ":" : ": ");
}

void swift_put_arguments(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *arguments)
{
    const struct swift_node *inside = arguments->kids[0]->kids[0];
    bool labelled = labels && labels->count;
    if (inside->kind != SWIFT_TUPLE) {
        swift_put(p, "(");
        if (p->brief)
            swift_put(p, "_:");
        else
            swift_put_node(p, inside);
        swift_put(p, ")");
        return;
    }
    swift_put(p, "(");
    for (size_t i = 0; i < inside->count; i++) {
        const struct swift_node *element = inside->kids[i];
        const struct swift_node *name = swift_find(element, SWIFT_ELEMENT_NAME);
        swift_put(p, i && !p->brief ? ", " : "");
        if (labelled) {
            put_label(p, labels, i);
        } else if (p->brief) {
            if (name)
                swift_put_text(p, name);
            swift_put(p, name ? ":" : "_:");
        }
        if (!p->brief)
            swift_put_node(p, element);
    }
    swift_put(p, ")");
}

static void put_one(struct swift_printer *p, const struct swift_node *function, enum swift_kind kind)
{
    const struct swift_node *node = swift_find(function, kind);
    if (!node)
        return;
    swift_put_text(p, node);
    if (kind == SWIFT_ISOLATION && node->count) {
        swift_put_node(p, node->kids[0]);
        swift_put(p, " ");
    }
}

void swift_put_function(struct swift_printer *p, const struct swift_node *labels, const struct swift_node *function)
{
    if (function->kind < SWIFT_FUNCTION_TYPE || function->kind > SWIFT_SPECIAL_FUNCTION_TYPE) {
        p->failed = true;
        return;
    }
    put_front(p, function);
    put_one(p, function, SWIFT_ISOLATION);
    put_one(p, function, SWIFT_DIFFERENTIABLE);
    put_one(p, function, SWIFT_SENDABLE);
    swift_put_arguments(p, labels, function->kids[function->count - 2]);
    if (p->brief)
        return;
    const struct swift_node *throws = swift_find(function, SWIFT_THROWS);
    put_one(p, function, SWIFT_ASYNC);
    if (throws) {
        swift_put(p, throws->count ? " throws(" : " throws");
        swift_put_kids(p, throws, 0, "");
        swift_put(p, throws->count ? ")" : "");
    }
    swift_put(p, " -> ");
    put_one(p, function, SWIFT_SENDING_RESULT);
    swift_put_node(p, function->kids[function->count - 1]);
}

static void put_list(struct swift_printer *p, const struct swift_node *function, enum swift_kind kind)
{
    bool any = false;
    swift_put(p, "(");
    for (size_t i = 0; i < function->count; i++) {
        if (function->kids[i]->kind != kind)
            continue;
        swift_put(p, any ? ", " : "");
        swift_put_kids(p, function->kids[i], 0, " ");
        any = true;
    }
    swift_put(p, ")");
}

/* Write the types that replace a signature's parameters. */
static void put_substituted(struct swift_printer *p, const struct swift_node *node)
{
    if (!node)
        return;
    swift_put(p, " for <");
    swift_put_kids(p, node->kids[node->count - 1], 0, "");
    swift_put(p, ">");
}

void swift_put_impl(struct swift_printer *p, const struct swift_node *function)
{
    const struct swift_node *pattern = swift_find(function, SWIFT_IMPL_PATTERN);
    const struct swift_node *sending = swift_find(function, SWIFT_IMPL_SENDING);
    for (size_t i = 0; i < function->count; i++) {
        if (function->kids[i]->kind != SWIFT_IMPL_WORD && function->kids[i]->kind != SWIFT_SIGNATURE)
            continue;
        swift_put_node(p, function->kids[i]);
        swift_put(p, " ");
    }
    if (pattern) {
        swift_put(p, "@substituted ");
        swift_put_node(p, pattern->kids[0]);
        swift_put(p, " ");
    }
    put_list(p, function, SWIFT_IMPL_PARAMETER);
    swift_put(p, " -> ");
    if (sending)
        swift_put_text(p, sending);
    put_list(p, function, SWIFT_IMPL_RESULT);
    put_substituted(p, pattern);
    put_substituted(p, swift_find(function, SWIFT_IMPL_INVOCATION));
}
