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
    size_t len = 2;
    if (s[0] >= 0xe0)
        len = s[0] >= 0xf0 ? 4 : 3;
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

/* Bytes at the front, in steps of eight, that are ASCII and not zero. */
static size_t ascii_span(const char *bytes, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t word;
    size_t i = 0;
    for (; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        if ((word | (word - ones)) & highs)
            break;
    }
    return i;
}

bool text_is_valid(const char *bytes, size_t len)
{
    const unsigned char *s = (const unsigned char *)bytes;
    size_t step = 1;
    for (size_t i = ascii_span(bytes, len); i < len && step; i += step)
        step = s[i] ? utf8_len(s + i, len - i) : 0;
    return step != 0;
}

/* Are there characters of UTF-8 beyond ASCII? */
static bool has_utf8(const unsigned char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (utf8_len(s + i, len - i) > 1)
            return true;
    return false;
}

/* The last bytes, if they begin a character that a limit cut. */
static size_t cut_at_end(const unsigned char *s, size_t len)
{
    static const unsigned char least[] = {0xc2, 0xe0, 0xf0};
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char c = s[len - back];
        if (c >= least[back - 1] && c <= 0xf4)
            return back;
        if ((c & 0xc0) != 0x80)
            return 0;
    }
    return 0;
}

size_t text_vformat(char *out, size_t room, const char *format, va_list args)
{
    int len = vsnprintf(out, room, format, args);
    size_t kept = len < 0 ? 0 : (size_t)len;

    if (kept >= room) {
        kept = room - 1;
        kept -= cut_at_end((const unsigned char *)out, kept);
    }
    out[kept] = '\0';
    return kept;
}

size_t text_format(char *out, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t len = text_vformat(out, room, format, args);
    va_end(args);
    return len;
}

void text_add_valid(struct text *text, const char *bytes, size_t len)
{
    const unsigned char *s = (const unsigned char *)bytes;
    bool latin = !has_utf8(s, len);
    if (!latin)
        len -= cut_at_end(s, len);
    for (size_t i = 0; i < len;) {
        size_t step = s[i] ? utf8_len(s + i, len - i) : 0;
        if (step)
            text_append(text, s + i, step);
        else if (latin && s[i])
            text_append(text, (const unsigned char[]){0xc0 | s[i] >> 6, 0x80 | (s[i] & 0x3f)}, 2);
        else
            text_add(text, "\xef\xbf\xbd");
        i += step ? step : 1;
    }
}
