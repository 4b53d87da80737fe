/*
 * text.h - numbers and lines in the small files of the kernel. Signal-safe: arithmetic on the caller's memory. Private
 * to platform/.
 */
#ifndef MIRE_PLATFORM_TEXT_H
#define MIRE_PLATFORM_TEXT_H

#include <stdint.h>
#include <string.h>

static inline const char *skip_spaces(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* Returns the text behind the number; without a number, `text` without its blanks. */
static inline const char *read_decimal(uint64_t *out, const char *text)
{
    text = skip_spaces(text);
    for (*out = 0; *text >= '0' && *text <= '9'; text++)
        *out = *out * 10 + (uint64_t)(*text - '0');
    return text;
}

/* The same for a hexadecimal number, with or without "0x". */
static inline const char *read_hex(uint64_t *out, const char *text)
{
    text = skip_spaces(text);
    if (text[0] == '0' && text[1] == 'x')
        text += 2;
    for (*out = 0;; text++) {
        if (*text >= '0' && *text <= '9')
            *out = *out << 4 | (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            *out = *out << 4 | (uint64_t)(*text - 'a' + 10);
        else
            return text;
    }
}

/* The text after "key" at the beginning of a line; NULL without such a line. */
static inline const char *text_after(const char *text, const char *key)
{
    size_t size = strlen(key);

    while (text && strncmp(text, key, size) != 0) {
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return text ? text + size : NULL;
}

/* The number after "key"; 0 without such a line. */
static inline uint64_t number_after(const char *text, const char *key)
{
    const char *at = text_after(text, key);
    uint64_t value = 0;

    if (at)
        read_decimal(&value, at);
    return value;
}

#endif
