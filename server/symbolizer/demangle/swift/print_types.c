/*
 * print_types.c - writes types, with the language's short forms: [A], [A : B], A?
 */
#include "demangle/swift/print.h"

#define PARAMETERS_SHOWN 128 /* limit for a signature */

/* Returns true if the type needs no parentheses before ? and .Type. */
static bool is_simple(const struct swift_node *type)
{
    switch (type->kind) {
    case SWIFT_TYPE:
        return is_simple(type->kids[0]);
    case SWIFT_FUNCTION_TYPE:
    case SWIFT_NOESCAPE_TYPE:
    case SWIFT_SPECIAL_FUNCTION_TYPE:
    case SWIFT_IMPL_FUNCTION:
    case SWIFT_GENERIC_TYPE:
    case SWIFT_INOUT:
    case SWIFT_MODIFIED:
    case SWIFT_CONSTRAINED:
    case SWIFT_PROTOCOLS_AND_CLASS:
        return false;
    case SWIFT_PROTOCOL_LIST:
        return type->kids[0]->count <= 1;
    case SWIFT_PROTOCOLS_AND_OBJECT:
        return !type->kids[0]->kids[0]->count;
    default:
        return true;
    }
}

static void put_simple(struct swift_printer *p, const struct swift_node *type)
{
    bool simple = is_simple(type);
    swift_put(p, simple ? "" : "(");
    swift_put_node(p, type);
    swift_put(p, simple ? "" : ")");
}

/* Returns true for Swift.Array and similar types, directly in the module. */
static bool is_standard(const struct swift_node *bound, const char *name, size_t arguments)
{
    const struct swift_node *nominal = bound->kids[0]->kids[0];
    return bound->count == 2 && bound->kids[1]->count == arguments && nominal->count == 2 &&
           nominal->kids[0]->kind == SWIFT_MODULE && swift_is(nominal->kids[0], "Swift") &&
           nominal->kids[1]->kind == SWIFT_IDENTIFIER && swift_is(nominal->kids[1], name);
}

static void put_bound(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *arguments = node->kids[1];
    if (node->index == SWIFT_ENUM && is_standard(node, "Optional", 1)) {
        put_simple(p, arguments->kids[0]);
        swift_put(p, "?");
    } else if (node->index == SWIFT_STRUCTURE &&
               (is_standard(node, "Array", 1) || is_standard(node, "Dictionary", 2))) {
        swift_put(p, "[");
        swift_put_kids(p, arguments, 0, " : ");
        swift_put(p, "]");
    } else if (node->index == SWIFT_PROTOCOL && node->count == 2) {
        swift_put_kids(p, arguments, 0, "");
        swift_put(p, " as ");
        swift_put_node(p, node->kids[0]);
    } else {
        swift_put_node(p, node->kids[0]);
        swift_put(p, "<");
        swift_put_kids(p, arguments, 0, ", ");
        swift_put(p, ">");
    }
}

static void put_element(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *name = swift_find(node, SWIFT_ELEMENT_NAME);
    const struct swift_node *type = swift_find(node, SWIFT_TYPE);
    if (name) {
        swift_put_text(p, name);
        swift_put(p, ": ");
    }
    if (type)
        swift_put_node(p, type);
    if (swift_find(node, SWIFT_VARIADIC))
        swift_put(p, "...");
}

static void put_metatype(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *type = node->kids[0]->kids[0];
    bool existential = type->kind == SWIFT_EXISTENTIAL_METATYPE || type->kind == SWIFT_PROTOCOL_LIST ||
                       type->kind == SWIFT_PROTOCOLS_AND_CLASS || type->kind == SWIFT_PROTOCOLS_AND_OBJECT;
    swift_put_text(p, node);
    put_simple(p, type);
    swift_put(p, existential && node->kind == SWIFT_METATYPE ? ".Protocol" : ".Type");
}

static void put_protocols(struct swift_printer *p, const struct swift_node *node)
{
    bool own = node->kind == SWIFT_PROTOCOL_LIST;
    const struct swift_node *protocols = own ? node->kids[0] : node->kids[0]->kids[0];
    if (node->kind == SWIFT_PROTOCOLS_AND_CLASS) {
        swift_put_node(p, node->kids[1]);
        swift_put(p, " & ");
    }
    swift_put_kids(p, protocols, 0, " & ");
    if (node->kind == SWIFT_PROTOCOLS_AND_OBJECT) {
        swift_put(p, protocols->count ? " & " : "");
        swift_put(p, p->brief ? "AnyObject" : "Swift.AnyObject");
    }
    if (own && !protocols->count)
        swift_put(p, "Any");
}

/* A, B, ..., Z, AB, BB; A1, B1 in an inner scope. */
static void put_parameter(struct swift_printer *p, unsigned depth, unsigned index)
{
    do {
        char letter = (char)('A' + index % 26);
        swift_put_bytes(p, &letter, 1);
    } while (index /= 26);
    if (depth)
        swift_put_number(p, depth);
}

static const struct swift_node *marker_of(const struct swift_node *signature, unsigned depth, unsigned index)
{
    for (size_t i = 0; i < signature->count; i++) {
        const struct swift_node *kid = signature->kids[i];
        if ((kid->kind == SWIFT_PACK_MARKER || kid->kind == SWIFT_VALUE_MARKER) &&
            kid->kids[0]->kids[0]->kind == SWIFT_PARAMETER && kid->kids[0]->kids[0]->index == (depth << 16 | index))
            return kid;
    }
    return NULL;
}

static void put_declared(struct swift_printer *p, const struct swift_node *signature, unsigned depth, unsigned index)
{
    const struct swift_node *marker = marker_of(signature, depth, index);
    if (marker)
        swift_put(p, marker->kind == SWIFT_PACK_MARKER ? "each " : "let ");
    put_parameter(p, depth, index);
    if (marker && marker->kind == SWIFT_VALUE_MARKER) {
        swift_put(p, ": ");
        swift_put_node(p, marker->kids[1]);
    }
}

static void put_signature(struct swift_printer *p, const struct swift_node *node)
{
    size_t depth = 0;
    bool any = false;
    swift_put(p, "<");
    for (; depth < node->count && node->kids[depth]->kind == SWIFT_COUNT; depth++) {
        unsigned count = node->kids[depth]->index;
        swift_put(p, depth ? "><" : "");
        for (unsigned i = 0; i < count && i <= PARAMETERS_SHOWN && !p->failed; i++) {
            swift_put(p, i ? ", " : "");
            if (i == PARAMETERS_SHOWN)
                swift_put(p, "...");
            else
                put_declared(p, node, (unsigned)depth, i);
        }
    }
    for (size_t i = depth; i < node->count && !p->brief; i++) {
        if (node->kids[i]->kind == SWIFT_PACK_MARKER || node->kids[i]->kind == SWIFT_VALUE_MARKER)
            continue;
        swift_put(p, any ? ", " : " where ");
        swift_put_node(p, node->kids[i]);
        any = true;
    }
    swift_put(p, ">");
}

static void put_requirement(struct swift_printer *p, const struct swift_node *node)
{
    swift_put_node(p, node->kids[0]);
    swift_put(p, node->kind == SWIFT_LAYOUT ? ": " : "");
    swift_put_text(p, node);
    if (node->kind == SWIFT_REQUIREMENT)
        swift_put_node(p, node->kids[1]);
}

static void put_box(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *fields = node->kids[0];
    if (node->count == 3) {
        swift_put_node(p, node->kids[1]);
        swift_put(p, " ");
    }
    swift_put(p, "{");
    for (size_t i = 0; i < fields->count; i++) {
        const struct swift_node *field = fields->kids[i]->kids[0];
        bool inout = field->kind == SWIFT_INOUT;
        swift_put(p, i ? ", " : " ");
        swift_put(p, inout ? "var " : "let ");
        swift_put_node(p, inout ? field->kids[0] : field);
    }
    swift_put(p, " }");
    if (node->count == 3) {
        swift_put(p, " <");
        swift_put_kids(p, node->kids[2], 0, ", ");
        swift_put(p, ">");
    }
}

static void put_generic(struct swift_printer *p, const struct swift_node *node)
{
    const struct swift_node *inside = node->kids[1]->kids[0];
    bool follows = inside->kind == SWIFT_FUNCTION_TYPE || inside->kind == SWIFT_NOESCAPE_TYPE ||
                   inside->kind == SWIFT_GENERIC_TYPE;
    swift_put_node(p, node->kids[0]);
    swift_put(p, follows ? "" : " ");
    swift_put_node(p, node->kids[1]);
}

/* A type made of two others with a text between them. */
static bool put_pair(struct swift_printer *p, const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_MEMBER:
    case SWIFT_ASSOCIATED_TYPE:
        swift_put_node(p, node->kids[0]);
        swift_put(p, ".");
        swift_put_node(p, node->kids[1]);
        return true;
    case SWIFT_ASSOCIATED_REF:
        if (node->count > 1) {
            swift_put_node(p, node->kids[1]);
            swift_put(p, ".");
        }
        swift_put_node(p, node->kids[0]);
        return true;
    case SWIFT_CONSTRAINED:
        swift_put(p, "any ");
        swift_put_node(p, node->kids[0]);
        swift_put(p, "<");
        swift_put_kids(p, node->kids[1], 0, ", ");
        swift_put(p, ">");
        return true;
    case SWIFT_OPAQUE_TYPE:
        swift_put_node(p, node->kids[0]);
        swift_put(p, ".");
        swift_put_number(p, node->index);
        return true;
    case SWIFT_OPAQUE_OF:
        swift_put(p, "<<opaque return type of ");
        swift_put_node(p, node->kids[0]);
        swift_put(p, ">>");
        return true;
    default:
        return false;
    }
}

/* A type with a prefix, a suffix or brackets. */
static bool put_wrapped(struct swift_printer *p, const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_TYPE:
    case SWIFT_RETURNS:
        swift_put_node(p, node->kids[0]);
        return true;
    case SWIFT_BUILTIN:
    case SWIFT_FIXED_TEXT:
    case SWIFT_IMPL_WORD:
        swift_put_text(p, node);
        return true;
    case SWIFT_INOUT:
    case SWIFT_MODIFIED:
        swift_put_text(p, node);
        swift_put_node(p, node->kids[0]);
        return true;
    case SWIFT_TUPLE:
        swift_put(p, "(");
        swift_put_kids(p, node, 0, ", ");
        swift_put(p, ")");
        return true;
    case SWIFT_PACK:
        swift_put_text(p, node);
        swift_put_kids(p, node, 0, ", ");
        swift_put(p, "}");
        return true;
    case SWIFT_TYPE_LIST:
        swift_put_kids(p, node, 0, node->text ? node->text : ", ");
        return true;
    case SWIFT_MANGLING:
        if (node->count > 1)
            swift_put_function(p, node->kids[0], node->kids[1]->kids[0]);
        else
            swift_put_node(p, node->kids[0]);
        return true;
    default:
        return false;
    }
}

bool swift_put_type(struct swift_printer *p, const struct swift_node *node)
{
    switch (node->kind) {
    case SWIFT_BOUND:
        put_bound(p, node);
        return true;
    case SWIFT_FUNCTION_TYPE:
    case SWIFT_NOESCAPE_TYPE:
    case SWIFT_SPECIAL_FUNCTION_TYPE:
        swift_put_function(p, NULL, node);
        return true;
    case SWIFT_ARGUMENTS:
        swift_put_arguments(p, NULL, node);
        return true;
    case SWIFT_IMPL_FUNCTION:
        swift_put_impl(p, node);
        return true;
    case SWIFT_ELEMENT:
        put_element(p, node);
        return true;
    case SWIFT_METATYPE:
    case SWIFT_EXISTENTIAL_METATYPE:
        put_metatype(p, node);
        return true;
    case SWIFT_PROTOCOL_LIST:
    case SWIFT_PROTOCOLS_AND_CLASS:
    case SWIFT_PROTOCOLS_AND_OBJECT:
        put_protocols(p, node);
        return true;
    case SWIFT_PARAMETER:
        put_parameter(p, node->index >> 16, node->index & 0xffff);
        return true;
    case SWIFT_GENERIC_TYPE:
        put_generic(p, node);
        return true;
    case SWIFT_BOX:
        put_box(p, node);
        return true;
    case SWIFT_SIGNATURE:
        put_signature(p, node);
        return true;
    case SWIFT_REQUIREMENT:
    case SWIFT_LAYOUT:
        put_requirement(p, node);
        return true;
    default:
        return put_pair(p, node) || put_wrapped(p, node);
    }
}
