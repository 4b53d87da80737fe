/*
 * disk.h - the atomic file operations of the store. Private to store/.
 */
#ifndef MIRE_STORE_DISK_H
#define MIRE_STORE_DISK_H

#include "mire/mire.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A piece of a file's content. */
struct disk_part {
    const void *bytes;
    size_t size;
};

/* Create `path` and its missing parents, 0700. Returns MIRE_OK, MIRE_E_STORE. */
enum mire_err mire__disk_make_dir(const char *path);

/*
 * Create a file beside `path` and lock it, so that mire__store_sweep ignores the file until it is closed. The caller
 * renames the file before closing it.
 *
 *   aside   path of the file
 *   access  O_WRONLY or O_RDWR
 *
 * Returns a descriptor, or -1 with the reason in errno.
 */
int mire__disk_create_aside(char aside[MIRE_STORE_PATH_MAX], const char *path, int access);

enum disk_how {
    MIRE_DISK_SYNC_FILE = 1, /* sync the file before it is renamed */
    MIRE_DISK_SYNC_NAME = 2, /* sync the directory afterwards */
    MIRE_DISK_EXCLUSIVE = 4  /* keep an existing file, and return MIRE_OK */
};

/*
 * Write a file of these parts, replacing an existing one. Returns MIRE_OK; MIRE_E_STORE: `path` is unchanged, unless
 * only its name could not be synced.
 *
 *   how  a sum of enum disk_how
 */
enum mire_err mire__disk_write(const char *path, const struct disk_part *parts, size_t count, unsigned how);

/* Sync a file, a directory, or the directory of a file. False: the data may not be on the disk. */
bool mire__disk_sync_file(const char *path);
bool mire__disk_sync_dir(const char *path);
bool mire__disk_sync_dir_of(const char *path);

/*
 * May this process write a file of this size? Beyond RLIMIT_FSIZE a write raises SIGXFSZ, which kills.
 */
bool mire__disk_allows(size_t size);

/* Read at most `cap` bytes of a file. Returns their number, or -1. */
ssize_t mire__disk_read(void *out, size_t cap, const char *path);

/* Lock `path`, created if absent, against other processes and threads. Returns a descriptor, or -1 after `wait_ms`. */
int mire__disk_lock(const char *path, uint32_t wait_ms);
void mire__disk_unlock(int fd);

#endif
