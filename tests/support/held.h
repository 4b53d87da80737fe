/*
 * held.h - makes the SDK's memory report of any bytes, for tests of the server's reader. Headers of both sides cannot
 * be included together.
 */
#ifndef MIRE_TESTS_HELD_H
#define MIRE_TESTS_HELD_H

#include <stddef.h>

/*
 * The report as JSON, freed by the caller; NULL if the bytes are no tables.
 *   bytes  aligned to 8
 */
char *held_json(size_t *len_out, const void *bytes, size_t size);

#endif
