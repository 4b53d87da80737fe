/*
 * held.h - the SDK's memory report of any bytes, for tests that give it to the server's reader: headers of the two
 * sides cannot be included together.
 */
#ifndef MIRE_TESTS_HELD_H
#define MIRE_TESTS_HELD_H

#include <stddef.h>

/*
 * The report as JSON, owned by the caller (free); NULL where the bytes are no tables.
 *   bytes  aligned to 8
 */
char *held_json(size_t *len_out, const void *bytes, size_t size);

#endif
