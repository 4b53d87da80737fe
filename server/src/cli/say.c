/* say.c - see say.h. The format is parsed, so that the texts of users can be told from the format's own. */
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct args {
    va_list list;
};

struct conversion {
    char flags[8];
    int width, precision; /* precision: -1 if absent */
    enum { INT, LONG, LONG_LONG } size;
    char letter;
};

static const char *read_number(int *out, const char *at, struct args *args)
{
    char *end;
    if (*at == '*') {
        *out = va_arg(args->list, int);
        return at + 1;
    }
    *out = (int)strtol(at, &end, 10);
    return end;
}

/* Read the conversion after a '%'; returns the rest. */
static const char *read_conversion(struct conversion *out, const char *at, struct args *args)
{
    size_t flags = strspn(at, "-+ #0");

    *out = (struct conversion){.precision = -1};
    memcpy(out->flags, at, flags < sizeof out->flags ? flags : sizeof out->flags - 1);
    at += flags;
    if (*at && strchr("*123456789", *at))
        at = read_number(&out->width, at, args);
    if (*at == '.')
        at = read_number(&out->precision, at + 1, args);
    for (; *at && strchr("hlzjt", *at); at++) {
        bool again = *at == 'l' && at[-1] == 'l';
        out->size = again ? LONG_LONG : LONG;
        if (*at == 'h')
            out->size = INT;
    }

    out->letter = *at;
    return *at ? at + 1 : at;
}

static void add_text(struct text *out, const struct conversion *c, const char *text)
{
    MIRE_SCOPED(free_memory) char *part = c->precision < 0 || !text ? NULL : strndup(text, (size_t)c->precision);
    if (c->precision >= 0 && text && !part) {
        out->failed = true;
        return;
    }
    if (part)
        text = part;
    else if (!text)
        text = "";
    bool left = c->width < 0 || strchr(c->flags, '-');
    int own = (int)table_width(text), width = abs(c->width);
    table_cell(out, text, (own > width ? own : width) * (left ? 1 : -1));
}

static long long take_int(const struct conversion *c, struct args *args)
{
    return c->size == INT    ? va_arg(args->list, int)
           : c->size == LONG ? va_arg(args->list, long)
                             : va_arg(args->list, long long);
}

static unsigned long long take_unsigned(const struct conversion *c, struct args *args)
{
    return c->size == INT    ? va_arg(args->list, unsigned)
           : c->size == LONG ? va_arg(args->list, unsigned long)
                             : va_arg(args->list, unsigned long long);
}

/* The compiler checked the format at the call. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_conversion(struct text *out, const struct conversion *c, struct args *args)
{
    char spec[24], letter[2] = "";
    const char *flags = c->flags;

    switch (c->letter) {
    case 's':
        add_text(out, c, va_arg(args->list, const char *));
        break;
    case 'c':
        letter[0] = (char)va_arg(args->list, int);
        add_text(out, c, letter);
        break;
    case 'd':
    case 'i':
        snprintf(spec, sizeof spec, "%%%s*.*lld", flags);
        text_printf(out, spec, c->width, c->precision, take_int(c, args));
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        snprintf(spec, sizeof spec, "%%%s*.*ll%c", flags, c->letter);
        text_printf(out, spec, c->width, c->precision, take_unsigned(c, args));
        break;
    case 'f':
    case 'g':
        snprintf(spec, sizeof spec, "%%%s*.*%c", flags, c->letter);
        text_printf(out, spec, c->width, c->precision, va_arg(args->list, double));
        break;
    case '%':
        text_add(out, "%");
        break;
    default: /* the size of its argument is unknown */
        abort();
    }
}
#pragma GCC diagnostic pop

static void add(struct text *out, const char *format, struct args *args)
{
    while (*format) {
        size_t plain = strcspn(format, "%");
        text_append(out, format, plain);
        format += plain;
        if (*format) {
            struct conversion c;
            format = read_conversion(&c, format + 1, args);
            add_conversion(out, &c, args);
        }
    }
}

void say_add(struct text *out, const char *format, ...)
{
    struct args args;
    va_start(args.list, format);
    add(out, format, &args);
    va_end(args.list);
}

void say_list(FILE *file, const char *format, va_list list)
{
    MIRE_SCOPED(text_fini) struct text out = {0};
    struct args args;
    va_copy(args.list, list);
    add(&out, format, &args);
    va_end(args.list);
    fwrite(out.bytes, 1, out.len, file);
}

void say(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_list(file, format, args);
    va_end(args);
}
