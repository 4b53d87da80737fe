/*
 * table.h - text in columns of a terminal. Whatever could move the cursor, colour the terminal or reverse the line is
 * shown as '?'.
 */
#ifndef MIRE_CLI_TABLE_H
#define MIRE_CLI_TABLE_H

#include <stddef.h>

#include "base/text.h"

/*
 * Append `text` in exactly `width` terminal columns: padded on the right (on the left if width is negative), and cut on
 * the left with "…" in front if it is longer, since the end of a name tells more than its beginning.
 */
void table_cell(struct text *out, const char *text, int width);

/* Columns of the terminal: $COLUMNS, else what the terminal on stdout says; 0 if neither is there. */
int table_terminal(void);

/* Narrow the widest of `widths`, each to no less than `least`, until together they take at most `room` columns. */
void table_fit(int *const *widths, size_t count, int least, int room);

/* Columns `text` takes when it is printed. */
size_t table_width(const char *text);

#endif
