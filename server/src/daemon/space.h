/*
 * space.h - the room on the disk that the private PostgreSQL is on. PostgreSQL that runs out of it stops; so reports are
 * refused before, and devices keep them.
 */
#ifndef MIRE_DAEMON_SPACE_H
#define MIRE_DAEMON_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* A small disk: the reserve is this share of it at most. A checkpoint and the log of what comes fit. */
#define MIRE_SPACE_LEAST_SHARE 16

struct log;

struct space {
    const char *dir;
    const struct log *log;
    uint64_t reserve_bytes;  /* less free is nearly full; 0: it never is */
    _Atomic uint64_t looked; /* tenth of a second of the last look */
    _Atomic uint64_t free_bytes;
    _Atomic uint64_t least_bytes; /* below which it is nearly full */
    _Atomic bool is_low;
};

/* Is it nearly full? Looks ten times a second at most; does not wait. `space` is a struct space *. Any thread. */
bool space_is_low(void *space);

/* Free bytes; looks now. */
uint64_t space_free(struct space *space);

#endif
