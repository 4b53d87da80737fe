/*
 * memory_view.h - a memory report in a terminal: categories by size, with the stacks that allocated them. Inside cli/
 * only.
 */
#ifndef MIRE_CLI_MEMORY_VIEW_H
#define MIRE_CLI_MEMORY_VIEW_H

#include "cli/document.h"

#include <stdio.h>

struct memory_view {
    size_t categories;    /* rows at most */
    size_t stacks;        /* of one category, at most */
    size_t frames;        /* of one stack, at most, but never fewer than up to the frame to blame */
    bool by_count;        /* most objects first, not most bytes */
    const char *category; /* this one only; NULL: all */
};

#define MEMORY_VIEW_INIT                            \
    {                                               \
        .categories = 20, .stacks = 3, .frames = 12 \
    }

/* Print the section. document: of a memory report. Returns how many categories were shown. */
size_t memory_print(FILE *out, const struct cli_document *document, const struct memory_view *view);

#endif
