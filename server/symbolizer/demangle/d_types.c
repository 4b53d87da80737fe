/* d_types.c - reads types. See d_walk.h. */
#include "demangle/d_walk.h"

#include <string.h>

bool d_is_function(const struct walk *w)
{
    return walk_peek(w) && strchr("FUWVRY", walk_peek(w));
}

/* Read something without writing it. */
static void skip(struct walk *w, void (*walk)(struct walk *w))
{
    bool silent = w->silent;
    w->silent = true;
    walk(w);
    w->silent = silent;
}

void d_modifiers(struct walk *w)
{
    for (;;) {
        if (walk_take(w, 'O')) {
            walk_put(w, " shared");
        } else if (walk_take(w, 'x')) {
            walk_put(w, " const");
        } else if (walk_take(w, 'y')) {
            walk_put(w, " immutable");
        } else if (w->end - w->at > 1 && w->at[0] == 'N' && w->at[1] == 'g') {
            walk_put(w, " inout");
            w->at += 2;
        } else {
            return;
        }
    }
}

/* pure, nothrow and others: N and a letter. Ng, Nh, Nk, Nn begin an argument. */
static void attributes(struct walk *w)
{
    while (w->end - w->at > 1 && w->at[0] == 'N' && strchr("abcdefijlm", w->at[1]))
        w->at += 2;
}

static void one_argument(struct walk *w)
{
    if (walk_take(w, 'M'))
        walk_put(w, "scope ");
    if (w->end - w->at > 1 && w->at[0] == 'N' && w->at[1] == 'k') {
        w->at += 2;
        walk_put(w, "return ");
    }
    const char *word = walk_peek(w) == 'I'   ? "in "
                       : walk_peek(w) == 'J' ? "out "
                       : walk_peek(w) == 'K' ? "ref "
                       : walk_peek(w) == 'L' ? "lazy "
                                             : "";
    if (word[0]) {
        w->at++;
        walk_put(w, word);
        if (word[0] == 'i' && walk_take(w, 'K'))
            walk_put(w, "ref ");
    }
    d_type(w);
}

/* Up to X (the last one repeats), Y (C's ...) or Z. */
static void list(struct walk *w)
{
    for (bool first = true; !walk_stopped(w); first = false) {
        char c = walk_peek(w);
        if (c == 'X' || c == 'Y' || c == 'Z') {
            w->at++;
            if (c == 'Y' && !first)
                walk_put(w, ", ");
            if (c != 'Z')
                walk_put(w, "...");
            return;
        }
        if (!first)
            walk_put(w, ", ");
        one_argument(w);
    }
}

void d_arguments(struct walk *w)
{
    if (!d_is_function(w)) {
        w->bad = true;
        return;
    }
    w->at++;
    attributes(w);
    walk_put(w, "(");
    list(w);
    walk_put(w, ")");
}

/* "int function(char)": the return type is last in the name and first in the output. */
static void pointed(struct walk *w, const char *word, const char *modifiers)
{
    const char *from = w->at;
    skip(w, d_arguments);
    d_type(w);
    const char *after = w->at;
    walk_put(w, word);
    w->at = from;
    if (!walk_stopped(w))
        d_arguments(w);
    if (modifiers) {
        w->at = modifiers;
        d_modifiers(w);
    }
    w->at = after;
}

static void around(struct walk *w, const char *front)
{
    walk_put(w, front);
    d_type(w);
    walk_put(w, ")");
}

/* V[K] */
static void associative(struct walk *w)
{
    const char *key = w->at;
    skip(w, d_type);
    d_type(w);
    const char *after = w->at;
    walk_put(w, "[");
    w->at = key;
    if (!walk_stopped(w))
        d_type(w);
    walk_put(w, "]");
    w->at = after;
}

static void fixed(struct walk *w)
{
    uint64_t count = d_number(w);
    d_type(w);
    walk_put(w, "[");
    walk_number(w, count);
    walk_put(w, "]");
}

static void delegate(struct walk *w)
{
    const char *modifiers = w->at;
    skip(w, d_modifiers);
    if (walk_take(w, 'Q')) {
        const char *to = d_back(w);
        const char *after = w->at;
        if (to) {
            w->at = to;
            pointed(w, " delegate", modifiers);
        }
        w->at = after;
        return;
    }
    pointed(w, " delegate", modifiers);
}

static void tuple(struct walk *w)
{
    if (walk_peek(w) >= '0' && walk_peek(w) <= '9') { /* form of older compilers */
        uint64_t count = d_number(w);
        walk_put(w, "Tuple!(");
        for (uint64_t i = 0; i < count && !walk_stopped(w); i++) {
            walk_put(w, i ? ", " : "");
            d_type(w);
        }
    } else {
        walk_put(w, "Tuple!(");
        list(w);
    }
    walk_put(w, ")");
}

static bool basic(struct walk *w, char c)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'n', "typeof(null)"}, {'v', "void"},   {'g', "byte"},    {'h', "ubyte"},  {'s', "short"},
                 {'t', "ushort"},       {'i', "int"},    {'k', "uint"},    {'l', "long"},   {'m', "ulong"},
                 {'f', "float"},        {'d', "double"}, {'e', "real"},    {'o', "ifloat"}, {'p', "idouble"},
                 {'j', "ireal"},        {'q', "cfloat"}, {'r', "cdouble"}, {'c', "creal"},  {'b', "bool"},
                 {'a', "char"},         {'u', "wchar"},  {'w', "dchar"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].letter == c) {
            walk_put(w, names[i].name);
            return true;
        }
    return false;
}

/* After N and z. */
static void of_two_letters(struct walk *w, char first)
{
    char c = walk_next(w);
    if (first == 'z' && (c == 'i' || c == 'k'))
        walk_put(w, c == 'i' ? "cent" : "ucent");
    else if (first == 'N' && c == 'g')
        around(w, "inout(");
    else if (first == 'N' && c == 'h')
        around(w, "__vector(");
    else if (first == 'N' && c == 'n')
        walk_put(w, "noreturn");
    else
        w->bad = true;
}

static void referred(struct walk *w)
{
    const char *to = d_back(w);
    const char *after = w->at;
    if (!to)
        return;
    w->at = to;
    d_type(w);
    w->at = after;
}

void d_type(struct walk *w)
{
    if (!walk_enter(w))
        return;
    char c = walk_next(w);
    switch (c) {
    case 'O':
        around(w, "shared(");
        break;
    case 'x':
        around(w, "const(");
        break;
    case 'y':
        around(w, "immutable(");
        break;
    case 'N':
    case 'z':
        of_two_letters(w, c);
        break;
    case 'A':
        d_type(w);
        walk_put(w, "[]");
        break;
    case 'G':
        fixed(w);
        break;
    case 'H':
        associative(w);
        break;
    case 'P':
        if (d_is_function(w)) {
            pointed(w, " function", NULL);
        } else {
            d_type(w);
            walk_put(w, "*");
        }
        break;
    case 'C':
    case 'S':
    case 'E':
    case 'T':
    case 'I':
        d_qualified(w);
        break;
    case 'D':
        delegate(w);
        break;
    case 'B':
        tuple(w);
        break;
    case 'Q':
        referred(w);
        break;
    case 'F':
    case 'U':
    case 'W':
    case 'V':
    case 'R':
    case 'Y':
        w->at--;
        pointed(w, "", NULL);
        break;
    default:
        w->bad |= !basic(w, c);
    }
    w->depth--;
}
