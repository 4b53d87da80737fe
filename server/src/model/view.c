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

int filter_parse(struct filter *out, struct arena *arena, const char *text, const char *const *allowed)
{
    struct filter f = {.with = arena_array(arena, MIRE_FILTER_MAX, sizeof *f.with),
                       .without = arena_array(arena, MIRE_FILTER_MAX, sizeof *f.without)};

    if (!f.with || !f.without)
        return -1;
    for (const char *p = text;; p++) {
        bool negated = *p == '!';
        p += negated;
        size_t len = strcspn(p, ",");
        if (len == 0 || len > WORD_MAX || f.with_count + f.without_count == MIRE_FILTER_MAX)
            return -1;
        char *word = arena_copy(arena, p, len);
        if (!word || !word_allowed(word, allowed))
            return -1;
        if (negated)
            f.without[f.without_count++] = word;
        else
            f.with[f.with_count++] = word;
        p += len;
        if (!*p)
            break;
    }

    *out = f;
    return 0;
}
