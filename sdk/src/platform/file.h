/*
 * file.h - what systems name differently about files. Signal handler: no.
 */
#ifndef MIRE_PLATFORM_FILE_H
#define MIRE_PLATFORM_FILE_H

#include "base/base.h"

#include <sys/stat.h>
#include <time.h>

/* When a file was changed last; the same in nanoseconds since 1970. */
struct timespec mire__file_changed(const struct stat *info);
static inline uint64_t mire__file_changed_ns(const struct stat *info)
{
    struct timespec when = mire__file_changed(info);

    return (uint64_t)when.tv_sec * MIRE_NS_PER_S + (uint64_t)when.tv_nsec;
}

/* Give a part of a file room on the disk, so that a store to it cannot fail later. False: the disk is full. */
bool mire__file_reserve(int fd, uint64_t at, uint64_t size_bytes);

/* Have a file's bytes on the disk. False: they cannot be. */
bool mire__file_sync(int fd);

/* Is the folder in a file system in memory? Then *left_bytes_out is the room in it; UINT64_MAX where it has no limit. */
bool mire__file_in_memory(uint64_t *left_bytes_out, const char *folder);

/* A forked child does not have this mapping. False: the system refuses. */
bool mire__pages_keep_from_child(void *pages, size_t size_bytes);

#endif
