/*
 * d.c - reads D's mangling (dlang.org/spec/abi.html): names with their lengths, template instances with their
 * arguments, types after functions, references back into the name.
 */
#include "demangle/d.h"
#include "demangle/d_walk.h"

#include <string.h>

#define NAME_MAX_BYTES 8192

static void template_arguments(struct walk *w);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins(const struct walk *w, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(w->end - w->at) >= len && !memcmp(w->at, text, len);
}

uint64_t d_number(struct walk *w)
{
    uint64_t value = 0;
    w->bad |= !is_digit(walk_peek(w));
    while (is_digit(walk_peek(w)) && value < UINT32_MAX)
        value = value * 10 + (uint64_t)(walk_next(w) - '0');
    return value;
}

const char *d_back(struct walk *w)
{
    const char *from = w->at - 1;
    uint64_t distance = 0;
    for (char c = 'A'; c >= 'A' && c <= 'Z' && !walk_stopped(w);) {
        c = walk_next(w);
        bool last = c >= 'a' && c <= 'z';
        w->bad |= (!last && (c < 'A' || c > 'Z')) || distance > UINT32_MAX;
        distance = distance * 26 + (uint64_t)(c - (last ? 'a' : 'A'));
    }
    w->bad |= !distance || distance > (uint64_t)(from - w->begin);
    return w->bad ? NULL : from - distance;
}

static bool is_template(const struct walk *w)
{
    return begins(w, "__T") || begins(w, "__U");
}

/* Returns true if a name begins at the cursor, directly or by a back reference. */
static bool is_name(const struct walk *w)
{
    struct walk ahead = *w;
    if (is_digit(walk_peek(w)) || is_template(w))
        return true;
    if (walk_peek(w) != 'Q')
        return false;
    ahead.at++;
    const char *to = d_back(&ahead);
    return to && is_digit(*to);
}

static void put_name(struct walk *w, size_t len)
{
    static const struct {
        const char *name;
        const char *plain;
    } names[] = {{"__ctor", "this"}, {"__dtor", "~this"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && !memcmp(w->at, names[i].name, len)) {
            walk_put(w, names[i].plain);
            w->at += len;
            return;
        }
    walk_bytes(w, w->at, len);
    w->at += len;
}

/* __T, the name, arguments, Z */
static void instance(struct walk *w);

static void identifier(struct walk *w)
{
    if (!walk_enter(w))
        return;
    if (walk_take(w, 'Q')) {
        const char *to = d_back(w);
        const char *after = w->at;
        if (to) {
            w->at = to;
            if (is_digit(*to))
                identifier(w);
            else
                w->bad = true;
            w->at = after;
        }
    } else if (is_template(w)) {
        instance(w);
    } else {
        uint64_t len = d_number(w);
        const char *begin = w->at;
        if (!len || len > (uint64_t)(w->end - begin))
            w->bad = true;
        else if (len > 4 && is_template(w)) {
            instance(w);
            w->bad |= w->at != begin + len;
        } else if (len >= 4 && begins(w, "__S") && strspn(begin + 3, "0123456789") >= len - 3) {
            w->at = begin + len; /* an unnamed scope */
            identifier(w);
        } else
            put_name(w, len);
    }
    w->depth--;
}

static void instance(struct walk *w)
{
    w->at += 3;
    identifier(w);
    walk_put(w, "!(");
    template_arguments(w);
    walk_put(w, ")");
}

/* A symbol, in one of three forms. */
static void symbol(struct walk *w)
{
    struct walk ahead = *w;
    if (begins(w, "_D")) {
        d_mangled(w);
        return;
    }
    if (is_digit(walk_peek(w)))
        (void)d_number(&ahead);
    if (begins(&ahead, "_D")) { /* preceded by its total length */
        w->at = ahead.at;
        d_mangled(w);
        return;
    }
    d_qualified(w);
}

static void template_value(struct walk *w)
{
    bool silent = w->silent;
    const char *type = w->at;
    if (walk_peek(w) == 'Q') {
        struct walk ahead = *w;
        ahead.at++;
        type = d_back(&ahead);
    }
    w->silent = true;
    d_type(w);
    w->silent = silent;
    if (type && !walk_stopped(w))
        d_value(w, *type);
}

static void template_arguments(struct walk *w)
{
    for (bool first = true; !walk_stopped(w) && !walk_take(w, 'Z'); first = false) {
        if (!first)
            walk_put(w, ", ");
        (void)walk_take(w, 'H');
        switch (walk_next(w)) {
        case 'S':
            symbol(w);
            break;
        case 'T':
            d_type(w);
            break;
        case 'V':
            template_value(w);
            break;
        case 'X': {
            uint64_t len = d_number(w);
            if (len > (uint64_t)(w->end - w->at)) {
                w->bad = true;
                return;
            }
            walk_bytes(w, w->at, len);
            w->at += len;
            break;
        }
        default:
            w->bad = true;
        }
    }
}

/* The function type between two names. If the text is a variable's type instead, nothing is consumed. */
static void between(struct walk *w)
{
    struct walk before = *w;
    size_t from = w->len;
    const char *modifiers = NULL;
    if (walk_take(w, 'M')) {
        bool silent = w->silent;
        modifiers = w->at;
        w->silent = true;
        d_modifiers(w);
        w->silent = silent;
    }
    d_arguments(w);
    if (modifiers && !walk_stopped(w)) {
        const char *after = w->at;
        w->at = modifiers;
        d_modifiers(w);
        w->at = after;
    }
    if (w->bad || w->at == w->end) {
        before.steps = w->steps;
        *w = before;
        w->len = from;
    }
}

void d_qualified(struct walk *w)
{
    if (!walk_enter(w))
        return;
    for (bool first = true; !walk_stopped(w) && (first || is_name(w)); first = false) {
        if (walk_take(w, '0')) {
            while (walk_take(w, '0'))
                continue;
            continue;
        }
        if (!first)
            walk_put(w, ".");
        identifier(w);
        if (walk_peek(w) == 'M' || d_is_function(w))
            between(w);
    }
    w->depth--;
}

void d_mangled(struct walk *w)
{
    bool silent = w->silent;
    w->at += 2;
    d_qualified(w);
    if (walk_take(w, 'Z') || walk_stopped(w))
        return;
    w->silent = true; /* the return type of a function, or the type of a variable */
    d_type(w);
    w->silent = silent;
}

size_t d_demangle(char *out, size_t room, const char *name, size_t len)
{
    struct walk w = {.begin = name, .at = name, .end = name + len, .out = out, .room = room ? room - 1 : 0};
    if (!room || len > NAME_MAX_BYTES || len < 4 || memcmp(name, "_D", 2) != 0)
        return 0;
    if (len == 6 && !memcmp(name, "_Dmain", 6))
        walk_put(&w, "D main");
    else if (is_digit(name[2]) || name[2] == '_')
        d_mangled(&w);
    else
        return 0;
    const char *rest = len == 6 && name[2] == 'm' ? w.end : w.at;
    if (walk_stopped(&w) || !w.len || (rest < w.end && *rest != '.'))
        return 0;
    out[w.len] = '\0';
    return w.len;
}
