/* pack.c - see pack.h. */
#include "feature/pack.h"

#include "base/scope.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rules_outcome pack_wrong(struct rules_fault *fault, unsigned line, const char *text)
{
    fault->line = line;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return MIRE_RULES_WRONG;
}

enum rules_outcome pack_copy(char **out, struct rules_fault *fault, const char *text, size_t len)
{
    if (len > MIRE_RULES_TEXT_MAX)
        return pack_wrong(fault, 1, "the pack is too long");
    if (memchr(text, '\0', len))
        return pack_wrong(fault, 1, "the pack is no text");
    *out = strndup(text, len);
    return *out ? MIRE_RULES_OK : MIRE_RULES_NO_MEMORY;
}

enum rules_outcome pack_read(char **out, size_t *len_out, struct rules_fault *fault, const char *path)
{
    MIRE_SCOPED(free_memory) char *text = malloc(MIRE_RULES_TEXT_MAX + 1);
    MIRE_SCOPED(close_file) FILE *file = fopen(path, "re");
    if (!text)
        return MIRE_RULES_NO_MEMORY;
    *len_out = file ? fread(text, 1, MIRE_RULES_TEXT_MAX + 1, file) : 0;
    if (!file || ferror(file))
        return pack_wrong(fault, 0, "cannot be read");
    if (!text_is_valid(text, *len_out) && !memchr(text, '\0', *len_out)) {
        struct text mended = {0};
        text_add_valid(&mended, text, *len_out);
        free(text);
        text = mended.bytes;
        *len_out = mended.len;
        if (text_failed(&mended))
            return MIRE_RULES_NO_MEMORY;
    }
    *out = text;
    text = NULL;
    return MIRE_RULES_OK;
}

enum rules_outcome pack_lines(unsigned *lines_out, char *text, struct rules_fault *fault, pack_line_fn *take,
                              void *pack)
{
    unsigned number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (line[0] == '#' || !line[strspn(line, " \t")])
            continue;
        enum rules_outcome outcome = take(pack, fault, line, number);
        if (outcome)
            return outcome;
    }
    *lines_out = number - 1;
    return MIRE_RULES_OK;
}

char *pack_word(char **line)
{
    char *begin = *line + strspn(*line, " \t");
    if (!*begin)
        return NULL;
    char *end = begin + strcspn(begin, " \t");
    *line = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

char *pack_rest(char *line)
{
    char *rest = line + strspn(line, " \t");
    for (size_t len = strlen(rest); len && (rest[len - 1] == ' ' || rest[len - 1] == '\t');)
        rest[--len] = '\0';
    return rest;
}
