/* d_values.c - reads values of template arguments. See d_walk.h. */
#include "demangle/d_walk.h"

#include <string.h>

static void integer(struct walk *w, char type)
{
    uint64_t value = d_number(w);
    if (type == 'b') {
        walk_put(w, value ? "true" : "false");
    } else if ((type == 'a' || type == 'u' || type == 'w') && value >= 0x20 && value < 0x7f) {
        char text[4] = {'\'', (char)value, '\'', '\0'};
        walk_put(w, text);
    } else {
        walk_number(w, value);
        if (type && strchr("htkm", type))
            walk_put(w, "u");
        if (type == 'l' || type == 'm')
            walk_put(w, "L");
    }
}

/* Hex digits with a point after the first, a P, the exponent; or a word. */
static void real(struct walk *w)
{
    static const char *const words[] = {"NAN", "NINF", "INF"}, *const shown[] = {"NaN", "-Inf", "Inf"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(w->end - w->at) >= strlen(words[i]) && !memcmp(w->at, words[i], strlen(words[i]))) {
            walk_put(w, shown[i]);
            w->at += strlen(words[i]);
            return;
        }
    walk_put(w, walk_take(w, 'N') ? "-0x" : "0x");
    w->bad |= !walk_peek(w) || !strchr("0123456789ABCDEF", walk_peek(w));
    if (!w->bad)
        walk_bytes(w, w->at++, 1);
    walk_put(w, ".");
    while (walk_peek(w) && strchr("0123456789ABCDEF", walk_peek(w)))
        walk_bytes(w, w->at++, 1);
    w->bad |= !walk_take(w, 'P');
    walk_put(w, walk_take(w, 'N') ? "p-" : "p");
    walk_number(w, d_number(w));
}

static void string(struct walk *w)
{
    uint64_t len = d_number(w);
    w->bad |= !walk_take(w, '_') || len > (uint64_t)(w->end - w->at) / 2;
    walk_put(w, "\"");
    for (uint64_t i = 0; i < len && !walk_stopped(w); i++) {
        char c = 0;
        for (unsigned k = 0; k < 2; k++) {
            char digit = walk_next(w);
            bool letter = digit >= 'a' && digit <= 'f';
            w->bad |= !letter && (digit < '0' || digit > '9');
            c = (char)((unsigned)(unsigned char)c << 4 | (unsigned)(letter ? digit - 'a' + 10 : digit - '0'));
        }
        walk_bytes(w, c >= 0x20 && c < 0x7f ? &c : ".", 1);
    }
    walk_put(w, "\"");
}

static void values(struct walk *w, char type, const char *front, const char *behind)
{
    uint64_t count = d_number(w);
    bool keyed = type == 'H';
    walk_put(w, front);
    for (uint64_t i = 0; i < count && !walk_stopped(w); i++) {
        walk_put(w, i ? ", " : "");
        d_value(w, '\0');
        if (keyed) {
            walk_put(w, ":");
            d_value(w, '\0');
        }
    }
    walk_put(w, behind);
}

void d_value(struct walk *w, char type)
{
    if (!walk_enter(w))
        return;
    char c = walk_peek(w);
    if (c >= '0' && c <= '9') {
        integer(w, type);
    } else {
        switch (walk_next(w)) {
        case 'n':
            walk_put(w, "null");
            break;
        case 'N':
            walk_put(w, "-");
            integer(w, type);
            break;
        case 'i':
            integer(w, type);
            break;
        case 'e':
            real(w);
            break;
        case 'c':
            real(w);
            walk_put(w, "+");
            w->bad |= !walk_take(w, 'c');
            real(w);
            walk_put(w, "i");
            break;
        case 'a':
        case 'w':
        case 'd':
            string(w);
            break;
        case 'A':
            values(w, type, "[", "]");
            break;
        case 'S':
            values(w, '\0', "(", ")");
            break;
        case 'f':
            if (w->end - w->at > 2 && w->at[0] == '_' && w->at[1] == 'D')
                d_mangled(w);
            else
                w->bad = true;
            break;
        default:
            w->bad = true;
        }
    }
    w->depth--;
}
