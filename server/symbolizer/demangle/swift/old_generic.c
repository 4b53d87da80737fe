/*
 * old_generic.c - reads the generic parts of Swift 3 names: parameters, their requirements, and functions that the
 * optimizer specialized for certain types or arguments.
 *
 *     u r F x x                a function of one parameter, from A to A
 *     u R x C4shop4Item r ...  the parameter inherits from Item
 *     TS g 5 Si _ _ _T ...     the following function, specialized for Int
 */
#include "demangle/swift/old.h"

#define COUNTS_MAX 64 /* depths of a signature */

struct swift_node *swift_old_parameter(struct old *o)
{
    struct swift *s = o->s;
    if (swift_take(s, 'x'))
        return swift_parameter(s, 0, 0);
    if (!swift_take(s, 'd')) {
        int index = swift_index(s);
        return index < 0 ? NULL : swift_parameter(s, 0, index + 1);
    }
    int depth = swift_index(s);
    int index = swift_index(s);
    return depth < 0 || index < 0 ? NULL : swift_parameter(s, depth + 1, index);
}

/* A.Element: the name is stored for substitutions, or is a substitution. */
static struct swift_node *member_of(struct old *o, struct swift_node *base)
{
    struct swift *s = o->s;
    struct swift_node *name;
    if (swift_take(s, 'S')) {
        name = swift_old_substitution(o);
        if (name && name->kind != SWIFT_ASSOCIATED_REF)
            return NULL;
    } else {
        struct swift_node *protocol = swift_take(s, 'P') ? swift_old_protocol(o) : NULL;
        name = swift_of(s, SWIFT_ASSOCIATED_REF, swift_old_name(o));
        name = swift_remember(s, protocol ? swift_add(s, name, swift_type(s, protocol)) : name);
    }
    return base ? swift_of_2(s, SWIFT_MEMBER, swift_type(s, base), name) : NULL;
}

struct swift_node *swift_old_member(struct old *o, bool compound)
{
    struct swift_node *type = member_of(o, swift_old_parameter(o));
    while (compound && type && !swift_take(o->s, '_'))
        type = member_of(o, type);
    return type;
}

static struct swift_node *subject(struct old *o)
{
    if (swift_take(o->s, 'w'))
        return swift_old_member(o, false);
    return swift_take(o->s, 'W') ? swift_old_member(o, true) : swift_old_parameter(o);
}

static struct swift_node *requirement(struct old *o)
{
    struct swift *s = o->s;
    struct swift_node *left = subject(o), *right;
    bool same = swift_take(s, 'z');
    if (!left)
        return NULL;
    if (same || swift_peek(s) == 'C')
        right = swift_inside(swift_old_type(o));
    else
        right = swift_old_protocol(o); /* or a class from a substitution */
    struct swift_node *node = swift_word(s, SWIFT_REQUIREMENT, same ? " == " : ": ");
    return right ? swift_add(s, swift_add(s, node, swift_type(s, left)), swift_type(s, right)) : NULL;
}

struct swift_node *swift_old_signature(struct old *o)
{
    struct swift *s = o->s;
    struct swift_node *signature = swift_node(s, SWIFT_SIGNATURE);
    size_t counts = 0;
    for (; signature && swift_peek(s) != 'R' && swift_peek(s) != 'r'; counts++) {
        int count = swift_take(s, 'z') ? 0 : swift_index(s) + 1;
        if (count < 0 || counts == COUNTS_MAX || (!count && s->text[s->at - 1] != 'z'))
            return NULL;
        signature = swift_add(s, signature, swift_indexed(s, SWIFT_COUNT, "", count));
    }
    if (!counts)
        signature = swift_add(s, signature, swift_indexed(s, SWIFT_COUNT, "", 1));
    if (swift_take(s, 'R'))
        while (signature && !swift_take(s, 'r'))
            signature = swift_add(s, signature, requirement(o));
    else if (!swift_take(s, 'r'))
        return NULL;
    return signature;
}

struct swift_node *swift_old_generic(struct old *o)
{
    struct swift_node *signature = swift_old_signature(o);
    return swift_of_2(o->s, SWIFT_GENERIC_TYPE, signature, signature ? swift_old_type(o) : NULL);
}

/* Types of a specialization, each with its conformances. */
static struct swift_node *for_types(struct old *o, const char *text)
{
    struct swift *s = o->s;
    struct swift_node *node = swift_word(s, SWIFT_SPECIALIZATION, text);
    while (node && !swift_take(s, '_')) {
        node = swift_add(s, node, swift_old_type(o));
        while (node && !swift_take(s, '_'))
            if (!swift_old_type(o) || !swift_old_protocol(o) || !swift_old_context(o))
                return NULL;
    }
    return node;
}

/* Changes of arguments in a specialization, if they contain no names. */
static struct swift_node *for_arguments(struct old *o)
{
    struct swift *s = o->s;
    while (!swift_take(s, '_')) {
        bool any = swift_take(s, 'n') || swift_take(s, 'i') || swift_take(s, 'k');
        while (!any && (swift_peek(s) == 'd' || swift_peek(s) == 'g' || swift_peek(s) == 's'))
            (void)swift_next(s);
        if (!swift_take(s, '_'))
            return NULL;
    }
    return swift_word(s, SWIFT_SPECIALIZATION, "function signature specialization");
}

struct swift_node *swift_old_specialization(struct old *o)
{
    struct swift *s = o->s;
    char kind = swift_next(s);
    (void)swift_take(s, 'q');
    char pass = swift_next(s);
    if (pass < '0' || pass > '9')
        return NULL;
    struct swift_node *node = kind == 'g'   ? for_types(o, "generic specialization")
                              : kind == 'r' ? for_types(o, "generic not re-abstracted specialization")
                              : kind == 'f' ? for_arguments(o)
                                            : NULL;
    s->substitutions->count = 0; /* the following name has substitutions of its own */
    return node;
}
