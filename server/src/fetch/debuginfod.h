/* debuginfod.h - asks a debuginfod server for a debug file. Inside fetch/ only. */
#ifndef MIRE_FETCH_DEBUGINFOD_H
#define MIRE_FETCH_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum debuginfod_answer {
    DEBUGINFOD_FOUND,
    DEBUGINFOD_NONE,   /* it has none: 404 */
    DEBUGINFOD_FAILED, /* it did not answer, or not so that it could be used: `why` says what happened */
};

struct debuginfod_options {
    const char *server;           /* https://debuginfod.debian.net */
    uint64_t most_bytes;          /* a larger file is none that can be used */
    long within_s;                /* the whole answer */
    const _Atomic bool *stopping; /* once it is true, the question fails */
};

/*
 * Write the debug file of a build id to `fd`.
 *
 *   why, room  what went wrong, in words
 *
 * Blocks on the network.
 */
enum debuginfod_answer debuginfod_get(char *why, size_t room, int fd, const struct debuginfod_options *options,
                                      const char *build_id);

#endif
