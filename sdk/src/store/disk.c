/*
 * disk.c - the file operations behind disk.h.
 *
 * A write goes to an aside first, "<path>.<random>.new", so that two processes writing one file never share it. The
 * writer holds the aside's lock. An aside without a holder has lost its writer, and mire__store_sweep deletes it.
 */
#include "store/disk.h"

#include "platform/file.h"
#include "platform/platform.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_LOOK_MS    10
#define PUBLISH_WAIT_MS 1000 /* for the directory's lock, which is held for two system calls */
#define ASIDE_TRIES     16   /* a sweeper meets a writer within microseconds only */

enum mire_err mire__disk_make_dir(const char *path)
{
    char part[MIRE_STORE_PATH_MAX];
    size_t length = strlen(path);
    struct stat info;

    if (length == 0 || length >= sizeof(part))
        return MIRE_E_STORE;
    memcpy(part, path, length + 1);
    if (mkdir(part, 0700) != 0 && errno == ENOENT) {
        for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
            *slash = '\0';
            if (mkdir(part, 0700) != 0 && errno != EEXIST && stat(part, &info) != 0)
                return MIRE_E_STORE;
            *slash = '/';
        }
        mkdir(part, 0700);
    }
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? MIRE_OK : MIRE_E_STORE;
}

static bool write_all(int fd, const struct disk_part *part)
{
    const char *at = part->bytes;
    size_t left = part->size;

    while (left > 0) {
        ssize_t wrote = write(fd, at, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        left -= (size_t)wrote;
    }
    return true;
}

bool mire__disk_sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool synced = fd >= 0 && mire__file_sync(fd);

    if (fd >= 0)
        close(fd);
    return synced;
}

bool mire__disk_sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced;

    if (fd < 0)
        return false;
    /* EINVAL: the file system cannot sync a directory. Such file systems order renames themselves. */
    synced = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return synced;
}

static void dir_of(char dir[MIRE_STORE_PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');

    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
}

bool mire__disk_sync_dir_of(const char *path)
{
    char dir[MIRE_STORE_PATH_MAX];

    dir_of(dir, path);
    return mire__disk_sync_dir(dir);
}

bool mire__disk_allows(size_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

int mire__disk_create_aside(char aside[MIRE_STORE_PATH_MAX], const char *path, int access)
{
    for (int tries = 0; tries < ASIDE_TRIES; tries++) {
        struct stat info;
        uint64_t random;
        int length, fd;

        mire__random(&random, sizeof(random));
        length = snprintf(aside, MIRE_STORE_PATH_MAX, "%s.%016llx.new", path, (unsigned long long)random);
        if (length < 0 || length >= MIRE_STORE_PATH_MAX)
            return -1;
        fd = open(aside, access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return -1;
        /* A sweeper that locked the file first deletes it. Where locks are refused, sweepers wait an hour. */
        if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(fd, &info) == 0 && info.st_nlink > 0)
            return fd;
        unlink(aside);
        close(fd);
    }
    errno = ENOENT; /* swept each time */
    return -1;
}

/* Closes a copy of the descriptor, since network file systems report a failed write there. The file stays open. */
static bool has_arrived(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return copy < 0 || close(copy) == 0;
}

/* The aside, whole, open and locked: no sweeper deletes it before it has its name. -1 with the reason in errno. */
static int fill(char aside[MIRE_STORE_PATH_MAX], const char *path, const struct disk_part *parts, size_t count,
                bool sync)
{
    int fd = mire__disk_create_aside(aside, path, O_WRONLY), reason;
    bool whole = fd >= 0;
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    if (whole && !mire__disk_allows(size)) {
        whole = false;
        errno = EFBIG;
    }
    for (size_t i = 0; whole && i < count; i++)
        whole = write_all(fd, &parts[i]);
    if (whole && (!sync || mire__file_sync(fd)) && has_arrived(fd))
        return fd;
    reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

static void wait_for_lock(int fd, uint32_t wait_ms)
{
    const struct timespec look = {.tv_nsec = LOCK_LOOK_MS * 1000000};

    for (uint32_t waited_ms = 0; waited_ms < wait_ms && flock(fd, LOCK_EX | LOCK_NB) != 0; waited_ms += LOCK_LOOK_MS)
        nanosleep(&look, NULL);
}

/*
 * Give the file its name, unless the name is taken. Links may be refused: by Android for every app, by a file system,
 * or by a seccomp filter. Then the lock of the directory makes the check and the rename one step.
 */
static bool publish(const char *aside, const char *path)
{
    char dir[MIRE_STORE_PATH_MAX];
    bool moved;
    int fd;

    if (link(aside, path) == 0 || errno == EEXIST)
        return true;
    dir_of(dir, path);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        wait_for_lock(fd, PUBLISH_WAIT_MS);
    moved = access(path, F_OK) == 0 || rename(aside, path) == 0;
    if (fd >= 0)
        close(fd);
    return moved;
}

/* Returns false with the reason in errno; ENOENT: the aside was swept. */
static bool write_once(const char *path, const struct disk_part *parts, size_t count, unsigned how)
{
    char aside[MIRE_STORE_PATH_MAX];
    bool moved = false;
    int fd = fill(aside, path, parts, count, how & MIRE_DISK_SYNC_FILE), reason;

    if (fd >= 0)
        moved = how & MIRE_DISK_EXCLUSIVE ? publish(aside, path) : rename(aside, path) == 0;
    reason = errno;
    if (how & MIRE_DISK_EXCLUSIVE || !moved)
        unlink(aside);
    if (fd >= 0)
        close(fd);
    errno = reason;
    return moved;
}

enum mire_err mire__disk_write(const char *path, const struct disk_part *parts, size_t count, unsigned how)
{
    bool written = write_once(path, parts, count, how);

    /* A sweeper may delete an aside between its creation and its lock. */
    for (int tries = 1; !written && errno == ENOENT && tries < ASIDE_TRIES; tries++)
        written = write_once(path, parts, count, how);
    if (!written)
        return MIRE_E_STORE;
    return !(how & MIRE_DISK_SYNC_NAME) || mire__disk_sync_dir_of(path) ? MIRE_OK : MIRE_E_STORE;
}

ssize_t mire__disk_read(void *out, size_t cap, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t length = 0;

    if (fd < 0)
        return -1;
    while (length < cap) {
        ssize_t got = read(fd, (char *)out + length, cap - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            close(fd);
            return -1;
        }
        if (got == 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    return (ssize_t)length;
}

int mire__disk_lock(const char *path, uint32_t wait_ms)
{
    const struct timespec look = {.tv_nsec = LOCK_LOOK_MS * 1000000};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return -1;
    for (uint32_t waited_ms = 0; waited_ms <= wait_ms; waited_ms += LOCK_LOOK_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&look, NULL);
    }
    close(fd);
    return -1;
}

void mire__disk_unlock(int fd)
{
    if (fd >= 0)
        close(fd);
}
