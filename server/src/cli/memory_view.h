/*
 * memory_view.h - a memory report in a terminal: what was held, most first, and who had asked for it. Inside cli/ only.
 */
#ifndef MIRE_CLI_MEMORY_VIEW_H
#define MIRE_CLI_MEMORY_VIEW_H

#include "cli/document.h"

#include <stdio.h>

struct memory_view {
    size_t categories;    /* rows at most */
    size_t stacks;        /* of one category, at most */
    size_t frames;        /* of one stack, at most; never fewer than down to the one that is to answer for it */
    bool by_count;        /* most objects first, not most bytes */
    const char *category; /* only this one; NULL: all */
};

#define MEMORY_VIEW_INIT                            \
    {                                               \
        .categories = 20, .stacks = 3, .frames = 12 \
    }

/* Print the section. document: of a memory report. Returns how many categories were shown. */
size_t memory_print(FILE *out, const struct cli_document *document, const struct memory_view *view);

#endif
