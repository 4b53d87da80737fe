/*
 * write.h - all of some bytes into a file.
 */
#ifndef MIRE_BASE_WRITE_H
#define MIRE_BASE_WRITE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Write `len` bytes where the file stands. False: the system refuses, and some may have been written. Any thread. */
static inline bool write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

#endif
