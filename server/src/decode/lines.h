/*
 * lines.h - reads a text line by line, and the parts of a line. Nothing is copied. Inside decode/ only.
 *
 * A line ends at "\n", "\r\n" or the end of the text. Numbers stop where their digits do; a number that does not fit is
 * all ones.
 */
#ifndef MIRE_DECODE_LINES_H
#define MIRE_DECODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct line_span {
    const char *at;
    size_t len;
};

struct text_lines {
    const char *begin, *at, *end;
    const char *last; /* the last line taken */
    size_t number;    /* of that line, from 1 */
};

static inline struct text_lines lines_of(const char *bytes, size_t len)
{
    return (struct text_lines){bytes, bytes, bytes + len, bytes, 0};
}

/* The next line; false at the end. */
static inline bool lines_next(struct line_span *out, struct text_lines *lines)
{
    if (lines->at == lines->end)
        return false;
    const char *end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    const char *next = end ? end + 1 : lines->end;
    lines->last = lines->at;
    end = end ? end : lines->end;
    *out = (struct line_span){lines->at, (size_t)(end - lines->at)};
    if (out->len && out->at[out->len - 1] == '\r')
        out->len--;
    lines->at = next;
    lines->number++;
    return true;
}

static inline void span_skip(struct line_span *span, size_t count)
{
    span->at += count;
    span->len -= count;
}

static inline void span_trim(struct line_span *span)
{
    while (span->len && (*span->at == ' ' || *span->at == '\t'))
        span_skip(span, 1);
    while (span->len && (span->at[span->len - 1] == ' ' || span->at[span->len - 1] == '\t'))
        span->len--;
}

static inline bool span_begins(const struct line_span *span, const char *text)
{
    size_t len = strlen(text);
    return span->len >= len && !memcmp(span->at, text, len);
}

static inline bool span_is(const struct line_span *span, const char *text)
{
    return span->len == strlen(text) && span_begins(span, text);
}

/* Pass over `text` if the span begins with it. */
static inline bool span_take(struct line_span *span, const char *text)
{
    bool there = span_begins(span, text);
    if (there)
        span_skip(span, strlen(text));
    return there;
}

/* The first, or the last, occurrence of `text`; NULL: none. */
static inline const char *span_find(const struct line_span *span, const char *text)
{
    return span->len ? memmem(span->at, span->len, text, strlen(text)) : NULL;
}

static inline const char *span_find_last(const struct line_span *span, const char *text)
{
    size_t len = strlen(text);
    for (size_t at = span->len; at-- > 0;)
        if (at + len <= span->len && !memcmp(span->at + at, text, len))
            return span->at + at;
    return NULL;
}

/* Take the text up to `end`, which lies in the span, and pass over `skip` bytes more. */
static inline struct line_span span_cut(struct line_span *span, const char *end, size_t skip)
{
    struct line_span cut = {span->at, (size_t)(end - span->at)};
    span_skip(span, cut.len + skip);
    return cut;
}

static inline int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
}

/* Digits of a base, at least one; they are passed over. */
static inline bool span_number(uint64_t *out, struct line_span *span, unsigned base)
{
    size_t digits = 0;
    uint64_t value = 0;
    for (; digits < span->len && digit_of(span->at[digits]) < (int)base; digits++) {
        uint64_t more = (uint64_t)digit_of(span->at[digits]);
        value = value > (UINT64_MAX - more) / base ? UINT64_MAX : value * base + more;
    }
    span_skip(span, digits);
    *out = value;
    return digits > 0;
}

/* The number behind `key`, anywhere in the line. */
static inline bool span_number_of(uint64_t *out, const struct line_span *span, const char *key, unsigned base)
{
    const char *found = span_find(span, key);
    if (!found)
        return false;
    struct line_span rest = {found, (size_t)(span->at + span->len - found)};
    span_skip(&rest, strlen(key));
    return span_number(out, &rest, base);
}

#endif
