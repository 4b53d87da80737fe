/* view.c - see view.h. */
#include "model/view.h"

#include <string.h>

#define WORD_MAX 200

static bool word_allowed(const char *word, const char *const *allowed)
{
    if (!allowed)
        return true;
    for (; *allowed; allowed++)
        if (strcmp(*allowed, word) == 0)
            return true;
    return false;
}

/* The value in front of a comma, without its backslashes, which have something behind them. Its length in `text`; 0: there
 * is none, or it is longer than WORD_MAX. */
static size_t take_word(char out[WORD_MAX], size_t *len_out, const char *text)
{
    size_t at = 0, len = 0;

    for (; text[at] && text[at] != ','; at++) {
        if ((text[at] == '\\' && !text[++at]) || len == WORD_MAX)
            return 0;
        out[len++] = text[at];
    }
    *len_out = len;
    return at;
}

int filter_parse(struct filter *out, struct arena *arena, const char *text, const char *const *allowed)
{
    struct filter f = {.with = arena_array(arena, MIRE_FILTER_MAX, sizeof *f.with),
                       .without = arena_array(arena, MIRE_FILTER_MAX, sizeof *f.without)};

    if (!f.with || !f.without)
        return -1;
    for (const char *p = text;; p++) {
        bool negated = *p == '!';
        p += negated;
        char value[WORD_MAX];
        size_t len = 0, taken = take_word(value, &len, p);
        if (taken == 0 || f.with_count + f.without_count == MIRE_FILTER_MAX)
            return -1;
        char *word = arena_copy(arena, value, len);
        if (!word || !word_allowed(word, allowed))
            return -1;
        if (negated)
            f.without[f.without_count++] = word;
        else
            f.with[f.with_count++] = word;
        p += taken;
        if (!*p)
            break;
    }

    *out = f;
    return 0;
}

bool filter_is_set(const struct filter *filter)
{
    return filter->with_count || filter->without_count;
}

bool filter_wants(const struct filter *filter, const char *value)
{
    bool wanted = !filter->with_count;

    for (size_t i = 0; i < filter->with_count; i++)
        wanted |= !strcmp(filter->with[i], value);
    for (size_t i = 0; i < filter->without_count; i++)
        wanted &= strcmp(filter->without[i], value) != 0;
    return wanted;
}

const char *const view_facet_names[VIEW_FACETS] = {[VIEW_OS] = "os",
                                                   [VIEW_OS_VERSION] = "os_version",
                                                   [VIEW_MODEL] = "model",
                                                   [VIEW_CLASS] = "class",
                                                   [VIEW_CHANNEL] = "channel"};
