/* debuginfod.h - asks a debuginfod server for a debug file. Inside fetch/ only. */
#ifndef MIRE_FETCH_DEBUGINFOD_H
#define MIRE_FETCH_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum debuginfod_answer {
    DEBUGINFOD_FOUND,
    DEBUGINFOD_NONE,   /* 404 */
    DEBUGINFOD_FAILED, /* no answer, or an unusable one: `why` has the reason */
};

struct debuginfod_options {
    const char *server;           /* https://debuginfod.debian.net */
    uint64_t most_bytes;          /* larger files are not taken */
    long within_s;                /* the whole answer */
    const _Atomic bool *stopping; /* once it is true, the request fails */
};

/*
 * Write the debug file of a build id to `fd`.
 *
 *   why, room  the cause of a failure, in words
 *
 * Blocks on the network.
 */
enum debuginfod_answer debuginfod_get(char *why, size_t room, int fd, const struct debuginfod_options *options,
                                      const char *build_id);

#endif
