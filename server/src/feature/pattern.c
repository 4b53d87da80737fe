/* pattern.c - globs, and the kind of a pattern: most are plain names or the begin of one. */
#include "feature/pattern.h"

#include <string.h>

/* The next place after a star at which the text may continue: a character equal to the next one of the pattern. NULL:
 * none. */
static const char *behind_star(char next, const char *text)
{
    return next == '*' || next == '?' || !next ? text : strchr(text, next);
}

bool glob_match(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *again = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            again = text = behind_star(*pattern, text);
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            again = text = behind_star(*pattern, again + 1);
        } else {
            return false;
        }
        if (!text)
            return false;
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* "^<(&|fn)" -> '<': the first character excludes most names. */
static char first_of(const char *text)
{
    int depth = 0;
    if (text[0] != '^' || !text[1] || strchr("\\.[(|*+?^$", text[1]) || (text[2] && strchr("*?", text[2])))
        return '\0';
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '[' && strchr(at + 2, ']')) /* a ] in first place is one of its characters */
            at = strchr(at + 2 + (at[1] == '^'), ']') ? strchr(at + 2 + (at[1] == '^'), ']') : at;
        else if (*at == '|' && !depth)
            return '\0';
        else
            depth += (*at == '(') - (*at == ')');
    }
    return text[1];
}

static uint64_t pair_bit(char one, char other)
{
    return 1ull << (((unsigned char)one * 7u + (unsigned char)other) & 63);
}

uint64_t pairs_of(const char *text)
{
    uint64_t pairs = 0;
    for (; text[0] && text[1]; text++)
        pairs |= pair_bit(text[0], text[1]);
    return pairs;
}

/* The pairs of a glob: a star or a question mark is in none. */
static uint64_t pairs_of_glob(const char *text)
{
    uint64_t pairs = 0;
    for (; text[0] && text[1]; text++)
        if (text[0] != '*' && text[0] != '?' && text[1] != '*' && text[1] != '?')
            pairs |= pair_bit(text[0], text[1]);
    return pairs;
}

int pattern_make(struct pattern *out, const char **why_out, const char *text)
{
    *out = (struct pattern){.text = text, .kind = MIRE_PATTERN_GLOB};
    if (text[0] == '~') {
        out->kind = MIRE_PATTERN_REGEX;
        out->first = first_of(text + 1);
        return regex_make(&out->regex, why_out, text + 1);
    }
    out->literal = strcspn(text, "*?");
    out->pairs = pairs_of_glob(text);
    out->path = strchr(text, '/') != NULL;
    if (!text[out->literal])
        out->kind = MIRE_PATTERN_EXACT;
    else if (!strcmp(text + out->literal, "*"))
        out->kind = out->literal ? MIRE_PATTERN_PREFIX : MIRE_PATTERN_ANY;
    return 0;
}

void pattern_fini(struct pattern *pattern)
{
    regex_free(pattern->regex);
    pattern->regex = NULL;
}

bool pattern_match_rest(const struct pattern *pattern, const char *text)
{
    switch (pattern->kind) {
    case MIRE_PATTERN_ANY:
    case MIRE_PATTERN_PREFIX:
        return true;
    case MIRE_PATTERN_EXACT:
        return !text[pattern->literal];
    case MIRE_PATTERN_GLOB:
        return glob_match(pattern->text + pattern->literal, text + pattern->literal);
    case MIRE_PATTERN_REGEX:
        break;
    }
    return (!pattern->first || text[0] == pattern->first) && regex_match(pattern->regex, text);
}

bool pattern_match(const struct pattern *pattern, const char *text)
{
    return !strncmp(pattern->text, text, pattern->literal) && pattern_match_rest(pattern, text);
}
