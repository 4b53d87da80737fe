/* listing.h - a list of the server's as a table of a terminal. Inside cli/ only. */
#ifndef MIRE_CLI_LISTING_H
#define MIRE_CLI_LISTING_H

#include "base/text.h"
#include "json/json.h"

#define LISTING_COLUMNS_MAX 12

struct listing_column {
    const char *head, *member;
    int most; /* columns of the terminal, 0: as wide as the widest */
};

/* Append a value as people read it: "-" for null, "yes" and "no", the elements of a list with commas between. */
void listing_value(struct text *out, const struct json *json, uint32_t at);

/* Print the rows of a list, or `none` if it has none. The exit status. */
int listing_print(const struct json *json, uint32_t list, const struct listing_column *columns, size_t count,
                  const char *none);

#endif
