/*
 * decode.h - bytes of a known format -> model.
 *
 *     body --(zstd, gzip, as it is)--> JSON --> rules of the format --> struct report
 *
 * One file a format, one row each in formats.c. The same code runs at the door, where a sender is told what is wrong
 * with his report, and in the worker: what the door let in, the worker can read.
 *
 * Every step is bounded: bytes after decompression, values, nesting, items of every list, memory of the model.
 */
#ifndef MIRE_DECODE_DECODE_H
#define MIRE_DECODE_DECODE_H

#include "base/arena.h"
#include "model/report.h"

#define MIRE_DECODE_PLAIN_MAX (16u << 20)  /* bytes after decompression; a report with every list full has 9 MB */
#define MIRE_DECODE_ARENA_MAX (128u << 20) /* bytes of model made of one report, columns included */

enum decode_outcome {
    MIRE_DECODE_OK = 0,
    MIRE_DECODE_MALFORMED = 1, /* not decompressible, or no JSON: position */
    MIRE_DECODE_WRONG = 2,     /* JSON that breaks the format's rules: path */
    MIRE_DECODE_TOO_BIG = 3,   /* over a bound after decompression */
    MIRE_DECODE_UNKNOWN = 4,   /* no such format or encoding */
    MIRE_DECODE_NO_MEMORY = -1,
};

struct decode_fault {
    size_t position; /* MALFORMED: byte of the decompressed body, or of the body if that is what cannot be read */
    char path[256];  /* WRONG: JSON Pointer (RFC 6901) to the value at fault */
    char text[160];  /* what is wrong, readable */
};

/*
 * Read a report.
 *
 *   out       filled on MIRE_DECODE_OK; what it points to lies in the arena
 *   arena     owned by caller
 *   fault     filled on any other outcome
 *   format    name of a row of formats.c: "mire"
 *   encoding  "identity", "zstd" or "gzip"
 *
 * Thread: any.
 */
enum decode_outcome decode_report(struct report *out, struct arena *arena, struct decode_fault *fault,
                                  const char *format, const char *encoding, const void *body, size_t len);

/*
 * The same, only to learn whether it is one: the check at the door.
 *
 *   id_out  the report's identifier, with a NUL
 */
enum decode_outcome decode_check(char id_out[37], struct decode_fault *fault, const char *format, const char *encoding,
                                 const void *body, size_t len);

/*
 * Only undo the compression.
 *
 *   plain_out  in the arena, with a NUL behind it
 */
enum decode_outcome decode_plain(char **plain_out, size_t *plain_len_out, struct arena *arena,
                                 struct decode_fault *fault, const char *encoding, const void *body, size_t len);

/* Encoding of a body by its first bytes: zstd's and gzip's magic numbers, otherwise identity. Static. */
const char *decode_encoding_of(const void *body, size_t len);

#endif
