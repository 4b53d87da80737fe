/* names_match.c - patterns, a letter at a time. */
#include "feature/names_match.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define HASH_LEN  16
#define DEPTH_MAX 64
#define WORD_MAX  256 /* bytes that a %n matches */

bool name_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t span_digits(const char *at)
{
    return strspn(at, "0123456789");
}

static size_t span_hex(const char *at)
{
    return strspn(at, "0123456789abcdefABCDEF");
}

static size_t span_word(const char *at)
{
    size_t len = 0;
    while (name_is_word(at[len]) || at[len] == '-')
        len++;
    return len;
}

/* Brackets nested deeper, and a bracket that closes before it opens, are no list: hostile names stay cheap in this
 * way. */
size_t name_span_brackets(const char *at, char close)
{
    static const char closing[] = ">]})", opening[] = "<[{(";
    const char *found = close ? strchr(closing, close) : NULL;
    const char open = found ? opening[found - closing] : '(';
    int depth = 0, round = 0;
    for (size_t i = 0; at[i] && depth < DEPTH_MAX && round < DEPTH_MAX; i++) {
        bool arrow = i && close == '>' && at[i] == close && at[i - 1] == '-';
        if (close == '>' && (at[i] == '(' || at[i] == ')')) {
            round += at[i] == '(' ? 1 : -1;
            if (round < 0)
                return SIZE_MAX;
        } else if (at[i] == open && !round) {
            depth++;
        } else if (at[i] == close && !round && !arrow && !depth--) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The shortest identifier with which the rest of the pattern matches. */
static size_t match_identifier(const char *pattern, const char *at, struct name_capture *capture)
{
    for (size_t len = 1; len <= WORD_MAX && name_is_word(at[len - 1]); len++) {
        size_t rest = name_match(pattern, at + len, capture);
        if (rest == SIZE_MAX)
            continue;
        *capture = (struct name_capture){at, len};
        return len + rest;
    }
    return SIZE_MAX;
}

/* Length of the text that a %-letter matches; SIZE_MAX: none. `next` is the next character of the pattern. */
static size_t match_class(char letter, const char *at, char next)
{
    size_t len;
    switch (letter) {
    case 'd':
        len = span_digits(at);
        return len ? len : SIZE_MAX;
    case 'x':
        len = span_hex(at);
        return len ? len : SIZE_MAX;
    case 'h':
        return span_hex(at) >= HASH_LEN ? HASH_LEN : SIZE_MAX;
    case 'i':
        return span_word(at);
    case 'b':
        return name_span_brackets(at, next);
    case 'r':
        return strlen(at);
    default: /* e */
        return name_is_word(*at) ? SIZE_MAX : 0;
    }
}

/* Length of the text that a pattern matches at its beginning; SIZE_MAX: none. */
size_t name_match(const char *pattern, const char *at, struct name_capture *capture)
{
    size_t used = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            if (at[used++] != *pattern)
                return SIZE_MAX;
            continue;
        }
        pattern++;
        size_t len = *pattern == 'n' ? match_identifier(pattern + 1, at + used, capture)
                                     : match_class(*pattern, at + used, pattern[1]);
        if (len == SIZE_MAX)
            return SIZE_MAX;
        used += len;
        if (*pattern == 'n')
            return used; /* the rest is matched already */
    }
    return used;
}
