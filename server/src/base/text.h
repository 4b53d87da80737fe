/*
 * text.h - bytes that grow while they are written.
 *
 * A failed append marks the text; later appends do nothing. So write it all, then ask text_failed() once. The bytes are
 * followed by a NUL that is not counted. Thread: one at a time per text.
 */
#ifndef MIRE_BASE_TEXT_H
#define MIRE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    char *bytes; /* malloc'd; NULL while empty */
    size_t len;
    size_t room;
    bool failed; /* memory ran out: the content is cut */
};

/* Release the bytes; the text is empty and usable again. */
void text_fini(struct text *text);

void text_append(struct text *text, const void *bytes, size_t len);
void text_add(struct text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *format, ...);

/* Append as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_add_json(struct text *text, const char *bytes, size_t len);

/* Are these bytes UTF-8 without a NUL inside? */
bool text_is_valid(const char *bytes, size_t len);

/*
 * Append as UTF-8 without a NUL: names in symbol tables, paths in debug information and mappings come in any encoding.
 * Bytes without any UTF-8 among them are taken for Latin-1; otherwise each byte that is not UTF-8 becomes U+FFFD. The cut
 * begin of a character at the end is dropped.
 */
void text_add_valid(struct text *text, const char *bytes, size_t len);

/*
 * The number of bytes that a cut to at most `most` bytes keeps, without half a character at the end. Result: len if the
 * text is not longer.
 */
static inline size_t text_cut(const char *bytes, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most > 0 && ((unsigned char)bytes[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* The same of a string; NULL has no bytes. */
static inline int text_cut_string(const char *string, size_t most)
{
    return string ? (int)text_cut(string, strlen(string), most) : 0;
}

/* Both arguments of "%.*s": a string, cut like that. `string` is evaluated twice. */
#define TEXT_CUT(string, most) text_cut_string(string, most), string

/* Format into `out`, which has room for a NUL, too. The rest is cut off between characters. Result: bytes without NUL. */
__attribute__((format(printf, 3, 4))) size_t text_format(char *out, size_t room, const char *format, ...);
__attribute__((format(printf, 3, 0))) size_t text_vformat(char *out, size_t room, const char *format, va_list args);

static inline bool text_failed(const struct text *text)
{
    return text->failed;
}

#endif
