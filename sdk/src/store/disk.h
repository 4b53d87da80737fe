/*
 * disk.h - the file operations of the store, each all or nothing. Private to store/.
 */
#ifndef MIRE_STORE_DISK_H
#define MIRE_STORE_DISK_H

#include "mire/mire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A piece of a file's content. */
struct disk_part {
    const void *bytes;
    size_t size;
};

/* Make `path` and what is missing above it, 0700. Returns MIRE_OK, MIRE_E_STORE. */
enum mire_err mire__disk_make_dir(const char *path);

enum disk_how {
    MIRE_DISK_SYNC_FILE = 1, /* before it has its name */
    MIRE_DISK_SYNC_NAME = 2, /* and after */
    MIRE_DISK_EXCLUSIVE = 4  /* what is there already stays, and that is MIRE_OK too */
};

/*
 * Put a file of these parts at `path`, replacing what is there. Otherwise (MIRE_E_STORE) `path` is as it was, but for a
 * name that could not be synced.
 *
 *   how  a sum of enum disk_how
 */
enum mire_err mire__disk_write(const char *path, const struct disk_part *parts, size_t count, unsigned how);

/* Sync a file, a directory, or the one that a file is in. False: it may not have reached the disk. */
bool mire__disk_sync_file(const char *path);
bool mire__disk_sync_dir(const char *path);
bool mire__disk_sync_dir_of(const char *path);

/*
 * May this process write a file so large? Beyond its RLIMIT_FSIZE a write would bring SIGXFSZ, which kills.
 */
bool mire__disk_allows(size_t size);

/* Read at most `cap` bytes of a file. Returns how many, -1 if it cannot be read. */
ssize_t mire__disk_read(void *out, size_t cap, const char *path);

/* Lock `path`, made if absent, against other processes and threads. Returns a descriptor, or -1 after `wait_ms`. */
int mire__disk_lock(const char *path, uint32_t wait_ms);
void mire__disk_unlock(int fd);

#endif
