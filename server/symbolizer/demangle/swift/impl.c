/*
 * impl.c - reads function types of the intermediate language (SIL), with the convention of each value.
 */
#include "demangle/swift/read.h"

struct letter {
    char letter;
    const char *text;
};

static const char *find(const struct letter *rows, char letter)
{
    while (rows->letter && rows->letter != letter)
        rows++;
    return rows->text;
}

/* The word for the next letter, which is skipped; NULL: none. */
static const char *take(struct swift *s, const struct letter *rows)
{
    const char *text = find(rows, swift_peek(s));
    if (text)
        swift_next(s);
    return text;
}

static const struct letter differentiability[] = {{'d', "@differentiable"},
                                                  {'l', "@differentiable(_linear)"},
                                                  {'f', "@differentiable(_forward)"},
                                                  {'r', "@differentiable(reverse)"},
                                                  {0}};
static const struct letter callees[] = {
    {'y', "@callee_unowned"}, {'g', "@callee_guaranteed"}, {'x', "@callee_owned"}, {'t', "@convention(thin)"}, {0}};
static const struct letter conventions[] = {{'B', "@convention(block)"},
                                            {'C', "@convention(c)"},
                                            {'M', "@convention(method)"},
                                            {'J', "@convention(objc_method)"},
                                            {'O', "@convention(objc_method)"},
                                            {'K', "@convention(closure)"},
                                            {'V', "@convention(com_method)"},
                                            {'W', "@convention(witness_method)"},
                                            {0}};
static const struct letter coroutines[] = {{'A', "@yield_once"}, {'I', "@yield_once_2"}, {'G', "@yield_many"}, {0}};
static const struct letter parameters[] = {{'i', "@in"},
                                           {'c', "@in_constant"},
                                           {'l', "@inout"},
                                           {'b', "@inout_aliasable"},
                                           {'n', "@in_guaranteed"},
                                           {'X', "@in_cxx"},
                                           {'x', "@owned"},
                                           {'g', "@guaranteed"},
                                           {'e', "@deallocating"},
                                           {'y', "@unowned"},
                                           {'v', "@pack_owned"},
                                           {'p', "@pack_guaranteed"},
                                           {'m', "@pack_inout"},
                                           {0}};
static const struct letter results[] = {{'r', "@out"},
                                        {'o', "@owned"},
                                        {'d', "@unowned"},
                                        {'u', "@unowned_inner_pointer"},
                                        {'a', "@autoreleased"},
                                        {'k', "@pack_out"},
                                        {'l', "@guaranteed_address"},
                                        {'g', "@guaranteed"},
                                        {'m', "@inout"},
                                        {0}};

static bool add_word(struct swift *s, struct swift_node **type, const char *text)
{
    if (text)
        *type = swift_add(s, *type, swift_word(s, SWIFT_IMPL_WORD, text));
    return *type != NULL;
}

/* A parameter or result: its convention and attributes. Its type follows. */
static struct swift_node *part(struct swift *s, enum swift_kind kind, const char *front, const struct letter *rows)
{
    const char *text = take(s, rows);
    struct swift_node *node = text ? swift_node(s, kind) : NULL;
    if (!node)
        return NULL;
    if (front)
        (void)add_word(s, &node, front);
    (void)add_word(s, &node, text);
    if (swift_take(s, 'w'))
        (void)add_word(s, &node, "@noDerivative");
    if (swift_take(s, 'T'))
        (void)add_word(s, &node, "sending");
    if (kind == SWIFT_IMPL_PARAMETER) { /* isolated, implied leading: not written */
        (void)swift_take(s, 'I');
        (void)swift_take(s, 'L');
    }
    return node;
}

static struct swift_node *substitutions(struct swift *s, enum swift_kind kind)
{
    struct swift_node *lists;
    struct swift_node *conformances;
    if (!swift_arguments(s, &lists, &conformances))
        return NULL;
    struct swift_node *node = swift_node(s, kind);
    if (kind == SWIFT_IMPL_PATTERN)
        node = swift_add(s, node, swift_pop(s, SWIFT_SIGNATURE));
    return swift_add(s, node, lists->kids[0]);
}

/* @convention(c), with an optional type in C++ mangling. */
static bool take_convention(struct swift *s, struct swift_node **type)
{
    if (swift_peek(s) != 'z')
        return add_word(s, type, take(s, conventions));
    swift_next(s);
    char letter = swift_next(s);
    struct swift_node *c_type = letter == 'B' || letter == 'C' ? swift_c_type(s) : NULL;
    char *text = c_type ? arena_printf(&s->arena, "@convention(%s, mangledCType: \"%.*s\")",
                                       letter == 'B' ? "block" : "c", (int)c_type->len, c_type->text)
                        : NULL;
    return text && add_word(s, type, text);
}

static struct swift_node *attributes(struct swift *s, struct swift_node *type)
{
    struct swift_node *signature = swift_pop(s, SWIFT_SIGNATURE);
    (void)swift_take(s, 'P'); /* pseudogeneric: written alike */
    if (swift_take(s, 'e'))
        (void)add_word(s, &type, "@escaping");
    if (swift_take(s, 'A'))
        (void)add_word(s, &type, "@isolated(any)");
    if (swift_take(s, 'N'))
        (void)add_word(s, &type, "nonisolated(nonsending)");
    if (swift_take(s, 'O'))
        (void)add_word(s, &type, "@called(atMostOnce)");
    (void)add_word(s, &type, take(s, differentiability));
    const char *callee = take(s, callees);
    if (!callee || !add_word(s, &type, callee) || !take_convention(s, &type))
        return NULL;
    (void)add_word(s, &type, take(s, coroutines));
    if (swift_take(s, 'h'))
        (void)add_word(s, &type, "@Sendable");
    if (swift_take(s, 'H'))
        (void)add_word(s, &type, "@async");
    if (swift_take(s, 'T'))
        type = swift_add(s, type, swift_word(s, SWIFT_IMPL_SENDING, "sending "));
    return swift_add_any(s, type, signature);
}

struct swift_node *swift_impl_function(struct swift *s)
{
    struct swift_node *type = swift_node(s, SWIFT_IMPL_FUNCTION);
    struct swift_node *one;
    if (swift_take(s, 's'))
        type = swift_add(s, type, substitutions(s, SWIFT_IMPL_PATTERN));
    if (swift_take(s, 'I'))
        type = swift_add(s, type, substitutions(s, SWIFT_IMPL_INVOCATION));
    type = attributes(s, type);
    size_t first = type ? type->count : 0;
    while (type && (one = part(s, SWIFT_IMPL_PARAMETER, NULL, parameters)))
        type = swift_add(s, type, one);
    while (type && (one = part(s, SWIFT_IMPL_RESULT, NULL, results)))
        type = swift_add(s, type, one);
    while (type && swift_take(s, 'Y'))
        type = swift_add(s, type, part(s, SWIFT_IMPL_RESULT, "@yields", parameters));
    if (type && swift_take(s, 'z'))
        type = swift_add(s, type, part(s, SWIFT_IMPL_RESULT, "@error", results));
    if (!type || !swift_take(s, '_'))
        return NULL;
    for (size_t i = type->count; i-- > first;)
        if (!swift_add(s, type->kids[i], swift_pop(s, SWIFT_TYPE)))
            return NULL;
    return swift_type(s, type);
}

struct swift_node *swift_c_type(struct swift *s)
{
    int len = swift_natural(s);
    struct swift_node *node = len > 0 && (size_t)len <= s->len - s->at ? swift_node(s, SWIFT_C_TYPE) : NULL;
    if (node) {
        node->text = s->text + s->at;
        node->len = (size_t)len;
        s->at += (size_t)len;
    }
    return node;
}
