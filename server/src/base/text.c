/*
 * text.c - a doubling buffer, and JSON escaping into it.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_fini(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

/* Room for `more` bytes and a NUL. */
static bool reserve(struct text *text, size_t more)
{
    if (text->failed)
        return false;
    if (more < text->room - text->len)
        return true;
    size_t room = text->room ? text->room : 256;
    while (room - text->len <= more && room < SIZE_MAX / 2)
        room *= 2;
    char *bytes = room - text->len > more ? realloc(text->bytes, room) : NULL;
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->room = room;
    return true;
}

void text_append(struct text *text, const void *bytes, size_t len)
{
    if (!reserve(text, len))
        return;
    if (len)
        memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !reserve(text, (size_t)len)) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(text->bytes + text->len, (size_t)len + 1, format, args);
    va_end(args);
    text->len += (size_t)len;
}

/* Length of the UTF-8 character at `s`, 0 if it is none (overlong, surrogate, above U+10FFFF, cut). */
static size_t utf8_len(const unsigned char *s, size_t room)
{
    if (s[0] < 0x80)
        return 1;
    size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || len > room)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
        return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

static void add_json_ascii(struct text *text, unsigned char c)
{
    static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const char *escape = NULL;
    for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
        if (escapes[i] == (char)c)
            escape = &escapes[i + 1];
    if (escape)
        text_append(text, (const char[]){'\\', *escape}, 2);
    else if (c < 0x20 || c == 0x7f)
        text_printf(text, "\\u%04x", c);
    else
        text_append(text, &c, 1);
}

void text_add_json(struct text *text, const char *bytes, size_t len)
{
    const unsigned char *s = (const unsigned char *)bytes;
    text_append(text, "\"", 1);
    for (size_t i = 0; i < len;) {
        size_t step = utf8_len(s + i, len - i);
        if (step == 1)
            add_json_ascii(text, s[i]);
        else if (step)
            text_append(text, s + i, step);
        else
            text_add(text, "\xef\xbf\xbd");
        i += step ? step : 1;
    }
    text_append(text, "\"", 1);
}
