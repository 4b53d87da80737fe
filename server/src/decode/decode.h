/*
 * decode.h - bytes of a known format -> model.
 *
 *     body --(zstd, gzip, as it is)--> JSON --> rules of the format --> struct report
 *     foreign format --(decode_each)--> struct report --(write.h)--> body of Mire's own format
 *
 * A format is a file, and a row of formats.c. The same code runs in ingest, where a sender learns what is wrong
 * with the report, and in the worker, so the worker can read every accepted report. A report of a foreign format
 * becomes one of Mire's own in ingest, or in `mire import`.
 *
 * Every step is bounded: bytes after decompression, values, nesting, items of every list, memory of the model.
 */
#ifndef MIRE_DECODE_DECODE_H
#define MIRE_DECODE_DECODE_H

#include "base/arena.h"
#include "model/report.h"

#define MIRE_DECODE_PLAIN_MAX (16u << 20) /* bytes after decompression; a report with every list full has 9 MB */
#define MIRE_DECODE_RATIO_MAX 256u /* bytes after decompression for each byte before, beyond MIRE_DECODE_ANY_RATIO */
#define MIRE_DECODE_ANY_RATIO (1u << 20)   /* bytes after decompression that any body may become */
#define MIRE_DECODE_SMALL     (256u << 10) /* bytes after decompression of a body that takes about a millisecond */
#define MIRE_DECODE_ARENA_MAX (128u << 20) /* bytes of model made of one report, columns included */

enum decode_outcome {
    MIRE_DECODE_OK = 0,
    MIRE_DECODE_MALFORMED = 1,  /* not decompressible, or no JSON: position */
    MIRE_DECODE_WRONG = 2,      /* JSON that breaks the format's rules: path */
    MIRE_DECODE_TOO_BIG = 3,    /* over a bound after decompression */
    MIRE_DECODE_UNKNOWN = 4,    /* unknown format or encoding, or content of no known format */
    MIRE_DECODE_STOPPED = 5,    /* decode_each: the receiver ended it */
    MIRE_DECODE_UNREADABLE = 6, /* decode_each: reading the input failed */
    MIRE_DECODE_NO_MEMORY = -1,
};

struct decode_fault {
    size_t position; /* MALFORMED: byte of the decompressed body; of the body itself if decompression failed */
    char path[256];  /* WRONG: JSON Pointer (RFC 6901) to the value at fault */
    char text[160];  /* what is wrong, readable */
};

/*
 * Read a report.
 *
 *   out       filled on MIRE_DECODE_OK; its lists and texts lie in the arena
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
 * Check a report without keeping it, for ingest.
 *
 *   id_out  the report's identifier, with a NUL
 */
enum decode_outcome decode_check(char id_out[37], struct decode_fault *fault, const char *format, const char *encoding,
                                 const void *body, size_t len);

/* Does the body declare, before it is decoded, that it has at most MIRE_DECODE_SMALL bytes? It may lie to its own harm. */
bool decode_is_small(const char *encoding, const void *body, size_t len);

/*
 * Only undo the compression.
 *
 *   plain_out  in the arena, with a NUL behind it
 */
enum decode_outcome decode_plain(char **plain_out, size_t *plain_len_out, struct arena *arena,
                                 struct decode_fault *fault, const char *encoding, const void *body, size_t len);

/* ---- reports of any format, one by one ---- */

/* A report that was found. */
struct decode_found {
    const char *format;          /* static */
    const struct report *report; /* of a foreign format; NULL of Mire's own */
    const char *own;             /* the identifier that the foreign format gives it; "" if there is none */
    const char *text;            /* of Mire's own: the document as it stands, not checked */
    size_t len;
};

/* The source of an input, and the receiver of its reports. */
struct decode_each {
    const char *format; /* its format; NULL: found by content */
    const char
        *encoding;    /* compression that the first bytes do not show: "deflate" or "br"; NULL, all else: by content */
    size_t plain_max; /* bytes after decompression, of all parts together; 0: no bound */
    void *context;
    /* At most `room` bytes into `out`: 0 at the end, below zero a fault. */
    long (*read)(void *context, void *out, size_t room);
    /* A report; its memory is the callee's until it returns. 0 to go on; otherwise the outcome is MIRE_DECODE_STOPPED. */
    int (*found)(void *context, const struct decode_found *found);
    /*
     * A part of the input is refused, others may follow. 0 to go on; otherwise the outcome is the fault's. NULL: never.
     */
    int (*refused)(void *context, enum decode_outcome outcome, const struct decode_fault *fault);
};

/*
 * Read an input of a known format, compressed or not: one report or many. An input of JSON may
 * hold many documents, in an array or one behind the other, each of a format of its own.
 *
 *   fault  filled on any outcome but MIRE_DECODE_OK, STOPPED and NO_MEMORY
 *
 * Memory is bounded by MIRE_FOREIGN_VALUE_MAX (decode/foreign.h) and MIRE_DECODE_ARENA_MAX, however long the input is.
 * An input without any report is refused.
 * Thread: any.
 */
enum decode_outcome decode_each(struct decode_fault *fault, const struct decode_each *each);

/* The same of bytes in memory; each->read is not used. */
enum decode_outcome decode_each_of(struct decode_fault *fault, const struct decode_each *each, const void *bytes,
                                   size_t len);

/* Name of the format with that media type (without parameters, any case), NULL if there is none. Static. */
const char *decode_format_of_media(const char *media_type, size_t len);

/* The i-th format: its name, or NULL behind the last one; *title and *media_type for people. Static. */
const char *decode_format(size_t i, const char **title, const char **media_type);

/* Encoding of a body by its first bytes: zstd's and gzip's magic numbers, otherwise identity. Static. */
const char *decode_encoding_of(const void *body, size_t len);

#endif
