/* punycode.h - letters beyond ASCII in mangled names: RFC 3492, with _ for the delimiter. Inside demangle/ only. */
#ifndef MIRE_DEMANGLE_PUNYCODE_H
#define MIRE_DEMANGLE_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_PUNYCODE_MAX 1024 /* code points of one name */

/*
 * Read a name. The digits beyond z are 0 to 9, as Rust writes them, or A to J, as Swift does.
 *
 *   points  room for MIRE_PUNYCODE_MAX
 *
 * Returns false if it makes no sense, or is too long.
 */
bool punycode_read(uint32_t *points, uint32_t *count_out, const char *text, size_t len);

/* A code point in UTF-8, at most 4 bytes, without a NUL. Returns where it ends. */
char *punycode_put(char *to, uint32_t point);

#endif
