/*
 * print.c - enforces the limits, and writes nodes that are neither a type nor an entity.
 */
#include "demangle/swift/print.h"

#include <string.h>

#define DEPTH_MAX 400
#define STEPS_MAX 50000

void swift_put_bytes(struct swift_printer *p, const char *text, size_t len)
{
    if (len >= p->room - p->len)
        p->failed = true;
    if (p->failed || !len)
        return;
    memcpy(p->out + p->len, text, len);
    p->len += len;
}

void swift_put(struct swift_printer *p, const char *text)
{
    swift_put_bytes(p, text, strlen(text));
}

void swift_put_number(struct swift_printer *p, unsigned value)
{
    char digits[12];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    swift_put_bytes(p, digits + at, sizeof digits - at);
}

void swift_put_text(struct swift_printer *p, const struct swift_node *node)
{
    if (p->brief && node->brief)
        swift_put(p, node->brief);
    else
        swift_put_bytes(p, node->text, node->len);
}

void swift_put_node(struct swift_printer *p, const struct swift_node *node)
{
    (void)swift_put_prefix(p, node, false);
}

void swift_put_kids(struct swift_printer *p, const struct swift_node *node, size_t first, const char *between)
{
    for (size_t i = first; i < node->count; i++) {
        if (i > first)
            swift_put(p, between);
        swift_put_node(p, node->kids[i]);
    }
}

bool swift_is_attribute(const struct swift_node *node)
{
    return node->kind == SWIFT_ATTRIBUTE || node->kind == SWIFT_RESUME || node->kind == SWIFT_PARTIAL ||
           node->kind == SWIFT_SPECIALIZATION;
}

static void put_private(struct swift_printer *p, const struct swift_node *node)
{
    bool named = node->count > 1;
    if (!p->brief)
        swift_put(p, named ? "(" : "(in ");
    if (named)
        swift_put_node(p, node->kids[1]);
    if (!p->brief) {
        swift_put(p, named ? " in " : "");
        swift_put_text(p, node->kids[0]);
        swift_put(p, ")");
    }
}

static void put_specialization(struct swift_printer *p, const struct swift_node *node)
{
    if (p->brief) {
        if (!p->specialized)
            swift_put(p, "specialized ");
        p->specialized = true;
        return;
    }
    swift_put_text(p, node);
    swift_put(p, " <");
    swift_put_kids(p, node, 0, ", ");
    swift_put(p, "> of ");
}

/* from A to B; short style writes only the called one. */
static void put_thunk(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *last = node->kids[node->count - 1];
    if (p->brief) {
        swift_put(p, "thunk for ");
        swift_put_node(p, node->kids[node->index]);
        return;
    }
    swift_put_text(p, node);
    if (last->kind == SWIFT_SIGNATURE) {
        swift_put_node(p, last);
        swift_put(p, " ");
    }
    swift_put(p, "from ");
    swift_put_node(p, node->kids[0]);
    swift_put(p, " to ");
    swift_put_node(p, node->kids[1]);
    if (node->count > 2 && node->kids[2]->kind != SWIFT_SIGNATURE) {
        swift_put(p, " self ");
        swift_put_node(p, node->kids[2]);
    }
}

static void put_resume(struct swift_printer *p, const struct swift_node *node)
{
    if (p->brief)
        return;
    swift_put(p, "(");
    swift_put_number(p, node->index);
    swift_put(p, ") ");
    swift_put_text(p, node);
}

static void put_conformance(struct swift_printer *p, const struct swift_node *node)
{
    if (node->count == 4) {
        swift_put(p, "property behavior storage of ");
        swift_put_node(p, node->kids[2]);
        swift_put(p, " in ");
        swift_put_node(p, node->kids[0]);
        swift_put(p, " : ");
        swift_put_node(p, node->kids[1]);
        return;
    }
    swift_put_node(p, node->kids[0]);
    if (p->brief)
        return;
    swift_put(p, " : ");
    swift_put_node(p, node->kids[1]);
    swift_put(p, " in ");
    swift_put_node(p, node->kids[2]);
}

/* Returns false for another kind. */
static bool put_name(struct swift_printer *p, const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_IDENTIFIER:
        swift_put_text(p, node);
        return true;
    case SWIFT_MODULE:
        if (!p->brief)
            swift_put_text(p, node);
        return true;
    case SWIFT_LOCAL_NAME:
        swift_put_node(p, node->kids[0]);
        swift_put(p, " #");
        swift_put_number(p, node->index + 1);
        return true;
    case SWIFT_PRIVATE_NAME:
        put_private(p, node);
        return true;
    case SWIFT_RELATED_NAME:
        swift_put(p, "related decl '");
        swift_put_text(p, node);
        swift_put(p, "' for ");
        swift_put_node(p, node->kids[0]);
        return true;
    default:
        return false;
    }
}

static void put_other(struct swift_printer *p, const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_OPERATOR:
    case SWIFT_TEXT:
    case SWIFT_ATTRIBUTE:
        swift_put_text(p, node);
        return;
    case SWIFT_ALL:
    case SWIFT_JOINED:
        swift_put_kids(p, node, 0, "");
        return;
    case SWIFT_PREFIXED:
    case SWIFT_DERIVATIVE:
        swift_put_text(p, node);
        swift_put_kids(p, node, 0, "");
        return;
    case SWIFT_LIST:
        swift_put_kids(p, node, 0, ".");
        return;
    case SWIFT_PARTIAL:
        swift_put_text(p, node);
        swift_put(p, node->count ? " for " : "");
        swift_put_kids(p, node, 0, "");
        return;
    case SWIFT_SPECIALIZATION:
        put_specialization(p, node);
        return;
    case SWIFT_RESUME:
        put_resume(p, node);
        return;
    case SWIFT_THUNK:
        put_thunk(p, node);
        return;
    case SWIFT_CONFORMANCE:
        put_conformance(p, node);
        return;
    case SWIFT_WITNESS_WORD:
        swift_put_text(p, node);
        swift_put(p, p->brief ? " for " : " value witness for ");
        swift_put_node(p, node->kids[0]);
        return;
    case SWIFT_SUFFIX:
        if (!p->brief) {
            swift_put(p, " with unmangled suffix \"");
            swift_put_text(p, node);
            swift_put(p, "\"");
        }
        return;
    default:
        p->failed = true; /* incomplete: an operand without its operator */
    }
}

const struct swift_node *swift_put_prefix(struct swift_printer *p, const struct swift_node *node, bool prefix)
{
    const struct swift_node *behind = NULL;
    if (++p->steps > STEPS_MAX || p->depth >= DEPTH_MAX)
        p->failed = true;
    if (p->failed)
        return NULL;
    p->depth++;
    if (!swift_put_entity(&behind, p, node, prefix) && !put_name(p, node) && !swift_put_type(p, node))
        put_other(p, node);
    p->depth--;
    return behind;
}

bool swift_print(char *out, size_t room, size_t *len_out, struct swift *s, struct swift_node *node,
                 enum swift_style style)
{
    struct swift_printer p = {.s = s, .out = out, .room = room, .brief = style == SWIFT_SHORT};
    swift_put_node(&p, node);
    out[p.len] = '\0';
    *len_out = p.len;
    return !p.failed && p.len;
}
