/* punycode.h - decodes letters beyond ASCII in mangled names: RFC 3492, with _ as the delimiter. Internal to
 * demangle/. */
#ifndef MIRE_DEMANGLE_PUNYCODE_H
#define MIRE_DEMANGLE_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_PUNYCODE_MAX 1024 /* limit of code points of a name */

/*
 * Decode a name. The digits after z are 0 to 9, as in Rust, or A to J, as in Swift.
 *
 *   points  room for MIRE_PUNYCODE_MAX
 *
 * Returns false if the name is invalid or too long.
 */
bool punycode_read(uint32_t *points, uint32_t *count_out, const char *text, size_t len);

/* Write a code point in UTF-8, at most 4 bytes, without a NUL. Returns the end of the output. */
char *punycode_put(char *to, uint32_t point);

#endif
