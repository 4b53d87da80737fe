/*
 * number.h - reads one JSON number. Inside json/ only.
 */
#ifndef MIRE_JSON_NUMBER_H
#define MIRE_JSON_NUMBER_H

#include "json/json.h"

struct json_number {
    enum json_kind kind; /* UINT, INT or DOUBLE; in tolerant reading also NULL */
    uint64_t bits;       /* the number, or the representation of a double */
};

/*
 * Read the number at *p, which is '-' or a digit, or '(' if it is tolerant, and move *p behind it.
 *
 * Doubles are the nearest ones. LC_NUMERIC must be "C", as it is in a program that never calls setlocale().
 * Returns NULL, or the error at *p (static).
 */
const char *json_number_read(struct json_number *number, const char **p, const char *end, bool tolerant);

#endif
