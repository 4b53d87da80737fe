/*
 * names_match.h - the patterns of names.h, held against a name. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_NAMES_MATCH_H
#define MIRE_FEATURE_NAMES_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* The text that a %n of a pattern matched. */
struct name_capture {
    const char *text;
    size_t len;
};

/* Length of the text that a pattern without an anchor matches at its beginning; SIZE_MAX: none. */
size_t name_match(const char *pattern, const char *at, struct name_capture *capture);

/* Bytes up to the bracket `close` without a partner here; SIZE_MAX: none. */
size_t name_span_brackets(const char *at, char close);

/* A letter, a digit, _ or $, or a byte beyond ASCII. */
bool name_is_word(char c);

#endif
