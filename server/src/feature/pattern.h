/*
 * pattern.h - patterns for names: a glob, or a regular expression after a ~. Inside feature/ only.
 *
 *     libc.so*                 * any characters, ? one
 *     ~^on_.*_(clicked|key)$   . [a-z] [^a-z] ( ) | * + ? ^ $, and \ before a character that means itself
 *
 * A regular expression may match anywhere in the name; a glob matches the whole name. Both take time in proportion to
 * name times pattern: an expression is run with all its states at once, without backtracking.
 *
 * A pattern is read once and then only looked at: any number of threads may match it.
 */
#ifndef MIRE_FEATURE_PATTERN_H
#define MIRE_FEATURE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_REGEX_STATES   256  /* of an expression: about its length */
#define MIRE_REGEX_TEXT_MAX 4096 /* bytes of a name that an expression looks at; the rest is not seen */

struct regex;

/*
 * Read an expression.
 *
 *   out      owned by the caller (regex_free)
 *   why_out  static text, where it is wrong
 *
 * 0, 1 wrong, -1 out of memory.
 */
int regex_make(struct regex **out, const char **why_out, const char *text);
void regex_free(struct regex *regex);
bool regex_match(const struct regex *regex, const char *text);

/* The pairs of neighbouring bytes in a text: a bit for several pairs. A name without all of a glob's does not fit. */
uint64_t pairs_of(const char *text);

static inline bool pairs_hold(uint64_t name, uint64_t wanted)
{
    return !(wanted & ~name);
}

enum pattern_kind { MIRE_PATTERN_ANY, MIRE_PATTERN_EXACT, MIRE_PATTERN_PREFIX, MIRE_PATTERN_GLOB, MIRE_PATTERN_REGEX };

struct pattern {
    const char *text; /* borrowed; as written */
    struct regex *regex;
    size_t literal; /* literal bytes at its beginning; 0 for an expression */
    char first;     /* for an expression: the first byte of every name that it matches; NUL: any */
    bool path;      /* it has a slash */
    enum pattern_kind kind;
    uint64_t pairs; /* of a glob's literal parts; none of an expression */
};

/* As regex_make; the text must live as long as the pattern. */
int pattern_make(struct pattern *out, const char **why_out, const char *text);
void pattern_fini(struct pattern *pattern);
bool pattern_match(const struct pattern *pattern, const char *text);

/* The same of a text of which it is known that it begins with the pattern's `literal` bytes. */
bool pattern_match_rest(const struct pattern *pattern, const char *text);

/* Whether text fits a glob. */
bool glob_match(const char *pattern, const char *text);

#endif
