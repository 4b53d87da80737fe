/*
 * table.h - text in columns of a terminal. Every character that could move the cursor, colour the terminal or reverse
 * the line is printed as '?'.
 */
#ifndef MIRE_CLI_TABLE_H
#define MIRE_CLI_TABLE_H

#include <stddef.h>

#include "base/text.h"

/*
 * Append `text` in exactly `width` terminal columns: padded on the right (on the left if width is negative). A longer
 * text loses its begin, with "…" in front, because the end of a name is more specific.
 */
void table_cell(struct text *out, const char *text, int width);

/* Columns of the terminal: $COLUMNS, otherwise those of the terminal on stdout; 0 if there is neither. */
int table_terminal(void);

/* Narrow the widest of `widths`, each to no less than `least`, until together they take at most `room` columns. */
void table_fit(int *const *widths, size_t count, int least, int room);

/* Number of columns of a printed `text`. */
size_t table_width(const char *text);

#endif
