/* csv.h - an answer's list as a table for sheets (RFC 4180). Inside api/ only. */
#ifndef MIRE_API_CSV_H
#define MIRE_API_CSV_H

#include "base/text.h"

#include <stddef.h>

/* Append a cell in quotes, and `end`. A text that a sheet would take for a formula begins with an apostrophe. */
void csv_cell(struct text *out, const char *text, const char *end);

/*
 * Append the list at `path` of a JSON object ("groups.issues": the lists `issues` of all elements of `groups`;
 * "series:points": the same, each row with the members of the element as well) as a table: a column for each member that is no list, named "totals.events" where it lies in an object, in the order in
 * which members first occur. Returns 0, or a fault.
 */
int csv_table(struct text *out, const char *json, size_t len, const char *path);

#endif
