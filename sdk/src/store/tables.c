/*
 * tables.c - see tables.h.
 *
 * All users of the machine share the file system in memory. A directory there is used only if it belongs to this user
 * and no other user may enter it. The link is made after the file is locked, so the link always leads to the tables of
 * a live or a dead run.
 */
#include "store/tables.h"

#include "platform/file.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "store/inside.h"
#include "store/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MEMORY     "/dev/shm"
#define ROOM_BYTES (256u << 10)
#define COPY_BYTES 65536
#define SWEEP_S    (24 * 3600) /* enough for the next start to find them; they use memory */
#define SWEEP_MOST 16

static bool link_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run)
{
    return !strchr(run, '/') && run[0] != '.' && run[0] != '\0' &&
           mire__store_run_path(out, store, run, MIRE_STORE_HEAP);
}

/* The directory for files in memory. False: there is no such file system, or the directory is not ours. */
static bool memory_directory(char out[MIRE_STORE_PATH_MAX])
{
    struct stat info;
    uint64_t left_bytes;

    if (!mire__file_in_memory(&left_bytes, MEMORY))
        return false;
    snprintf(out, MIRE_STORE_PATH_MAX, MEMORY "/mire-%lu", (unsigned long)geteuid());
    return (mkdir(out, 0700) == 0 || errno == EEXIST) && lstat(out, &info) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == geteuid() && !(info.st_mode & 077);
}

static bool memory_path(char out[MIRE_STORE_PATH_MAX], const char *run)
{
    int length;

    if (!memory_directory(out))
        return false;
    length = snprintf(out, MIRE_STORE_PATH_MAX, MEMORY "/mire-%lu/%s" MIRE_STORE_HEAP, (unsigned long)geteuid(), run);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

/* Is there room for empty tables? Other processes may have filled the file system. */
static bool memory_has_room(void)
{
    uint64_t left_bytes;

    return mire__file_in_memory(&left_bytes, MEMORY) && left_bytes >= ROOM_BYTES;
}

/* No process has the file mapped, and the last write was SWEEP_S ago: its store is gone, or has not started again. */
static bool is_abandoned(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    bool abandoned = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                     time(NULL) - info.st_mtime > SWEEP_S;

    if (fd >= 0)
        close(fd);
    return abandoned;
}

void mire__store_tables_sweep(void)
{
    char path[MIRE_STORE_PATH_MAX];
    uint32_t swept = 0;
    DIR *dir = memory_directory(path) ? mire__own.opendir(path) : NULL;

    if (!dir)
        return;
    for (struct dirent *entry; swept < SWEEP_MOST && (entry = mire__own.readdir(dir));) {
        if (mire__store_ends_with(entry->d_name, MIRE_STORE_HEAP) && is_abandoned(dirfd(dir), entry->d_name))
            swept += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    }
    mire__own.closedir(dir);
}

/* Make a file of `size` zeros at `path`, locked and mapped. */
static enum mire_err make(struct store_box *file, const char *path, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *memory = NULL;

    if (fd < 0)
        return MIRE_E_STORE;
    if (ftruncate(fd, (off_t)size) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        memory = mire__pages_map_file(size, fd);
    close(fd);
    if (!memory || !mire__pages_keep_from_child(memory, size)) {
        if (memory)
            mire__pages_unmap(memory, size);
        unlink(path);
        return MIRE_E_SYSTEM;
    }
    mire__pages_keep_small(memory, size);
    file->memory = memory;
    file->size = size;
    return MIRE_OK;
}

enum mire_err mire__store_tables_open(struct store_box *file, struct store *store, const char *run, size_t size,
                                      bool on_disk)
{
    char in_memory[MIRE_STORE_PATH_MAX];

    memset(file, 0, sizeof(*file));
    if (size == 0 || size > MIRE_STORE_TABLES_MAX)
        return MIRE_E_RANGE;
    if (!link_path(file->path, store, run) || !mire__disk_allows(size))
        return MIRE_E_STORE;
    if (on_disk || !memory_has_room() || !memory_path(in_memory, run) || make(file, in_memory, size) != MIRE_OK)
        return make(file, file->path, size);
    if (symlink(in_memory, file->path) == 0)
        return MIRE_OK;
    mire__pages_unmap(file->memory, size);
    unlink(in_memory);
    memset(file, 0, sizeof(*file));
    return MIRE_E_STORE;
}

bool mire__store_tables_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run)
{
    char path[MIRE_STORE_PATH_MAX], expected[MIRE_STORE_PATH_MAX];
    struct stat info;
    ssize_t length;

    if (!link_path(path, store, run) || lstat(path, &info) != 0)
        return false;
    if (S_ISREG(info.st_mode)) {
        memcpy(out, path, sizeof(path));
        return true;
    }
    /* The only link that is followed is the one made here. */
    length = S_ISLNK(info.st_mode) ? readlink(path, out, MIRE_STORE_PATH_MAX - 1) : -1;
    if (length < 0 || !memory_path(expected, run))
        return false;
    out[length] = '\0';
    return strcmp(out, expected) == 0 && lstat(out, &info) == 0 && S_ISREG(info.st_mode);
}

/* Copy the file without its holes. sync: the copy is on disk on return. */
static bool copy_file(int to, int from, off_t size, bool sync)
{
    static const size_t most = COPY_BYTES;
    char buffer[COPY_BYTES];
    off_t at = 0;

    while (at < size && (at = lseek(from, at, SEEK_DATA)) >= 0) {
        off_t end = lseek(from, at, SEEK_HOLE);

        while (at < end) {
            size_t piece = (size_t)(end - at) < most ? (size_t)(end - at) : most;
            ssize_t got = pread(from, buffer, piece, at);

            if (got <= 0 || pwrite(to, buffer, (size_t)got, at) != got)
                return false;
            at += got;
        }
    }
    return (at >= 0 || errno == ENXIO) && ftruncate(to, size) == 0 && (!sync || mire__file_sync(to));
}

enum mire_err mire__store_tables_settle(struct store *store, const char *run)
{
    char from[MIRE_STORE_PATH_MAX], to[MIRE_STORE_PATH_MAX], aside[MIRE_STORE_PATH_MAX];
    const unsigned how = mire__store_how(store, false);
    int from_fd, to_fd;
    struct stat info;
    bool copied;

    if (!mire__store_tables_path(from, store, run) || !link_path(to, store, run))
        return MIRE_E_STORE;
    if (strcmp(from, to) == 0)
        return MIRE_OK;
    from_fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    to_fd = from_fd < 0 ? -1 : mire__disk_create_aside(aside, to, O_WRONLY);
    copied = to_fd >= 0 && fstat(from_fd, &info) == 0 &&
             copy_file(to_fd, from_fd, info.st_size, how & MIRE_DISK_SYNC_FILE) && rename(aside, to) == 0;
    if (copied && how & MIRE_DISK_SYNC_NAME)
        mire__disk_sync_dir_of(to);
    if (to_fd >= 0) {
        close(to_fd);
        unlink(copied ? from : aside);
    }
    if (from_fd >= 0)
        close(from_fd);
    return copied ? MIRE_OK : MIRE_E_STORE;
}

void mire__store_tables_drop(struct store *store, const char *run)
{
    char path[MIRE_STORE_PATH_MAX];

    if (mire__store_tables_path(path, store, run))
        unlink(path);
    if (link_path(path, store, run))
        unlink(path);
}
