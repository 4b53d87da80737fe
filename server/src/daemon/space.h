/*
 * space.h - free space on the disk of the private PostgreSQL. A PostgreSQL without space stops. So reports are refused
 * before the disk is full, and devices keep them.
 */
#ifndef MIRE_DAEMON_SPACE_H
#define MIRE_DAEMON_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* On a small disk the reserve is at most one part in so many of it, which has room for a checkpoint and new log files. */
#define MIRE_SPACE_LEAST_SHARE 16

struct log;

struct space {
    const char *dir;
    const struct log *log;
    uint64_t reserve_bytes;  /* with less free the disk is nearly full; 0: it never is */
    _Atomic uint64_t looked; /* tenth of a second of the last look */
    _Atomic uint64_t free_bytes;
    _Atomic uint64_t least_bytes; /* below which it is nearly full */
    _Atomic bool is_low;
};

/* Is the disk nearly full? Asks the system at most ten times a second. `space` is a struct space *. Any thread. */
bool space_is_low(void *space);

/* Free bytes, asked of the system at each call. */
uint64_t space_free(struct space *space);

#endif
