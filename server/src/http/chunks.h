/*
 * chunks.h - the body of a chunked request (RFC 9112, 7.1), read strictly. Pure.
 *
 *     5;name=value CR LF  hello CR LF  0 CR LF  Trailer: value CR LF  CR LF
 *
 * Extensions and trailers are checked, bounded and ignored. Lines end in CR LF, and no other CR or LF is allowed, so
 * that no proxy can see the end of a chunk at another place.
 */
#ifndef MIRE_HTTP_CHUNKS_H
#define MIRE_HTTP_CHUNKS_H

#include "http/wire.h"

#define MIRE_CHUNKS_DIGITS_MAX 8          /* of a chunk's size, leading zeros included */
#define MIRE_CHUNKS_EXTRAS_MAX (8 * 1024) /* bytes of a body's extensions and trailers together */

enum chunks_part {
    MIRE_CHUNKS_SIZE,
    MIRE_CHUNKS_EXTENSION,
    MIRE_CHUNKS_SIZE_LF,
    MIRE_CHUNKS_DATA,
    MIRE_CHUNKS_DATA_CR,
    MIRE_CHUNKS_DATA_LF,
    MIRE_CHUNKS_TRAILER, /* a line begins, or the CR of the empty line comes */
    MIRE_CHUNKS_TRAILER_NAME,
    MIRE_CHUNKS_TRAILER_VALUE,
    MIRE_CHUNKS_TRAILER_LF,
    MIRE_CHUNKS_LAST_LF,
    MIRE_CHUNKS_END,
};

/* Place in a body; {0} at its first byte. */
struct chunks {
    enum chunks_part part; /* of the next byte */
    uint64_t left;         /* missing bytes of the chunk; while at SIZE, the value of the digits so far */
    unsigned digits;       /* of the size */
    size_t extras;         /* bytes of extensions and trailers so far */
};

/*
 * Read on, up to the end of the next piece of data.
 *
 *   data, data_len  the piece, inside of *bytes; data_len is 0 if no data was found
 *   bytes, len      received bytes; afterwards the rest, for the next call or behind the body (MIRE_WIRE_WHOLE)
 *
 * MIRE_WIRE_MORE: call again, with more bytes once *len is 0. MIRE_WIRE_BAD: the body cannot be read; *bytes is at the
 * byte that is not allowed.
 */
enum wire_outcome chunks_take(struct chunks *chunks, const char **data, size_t *data_len, const char **bytes,
                              size_t *len);

#endif
