/*
 * kept.c - memory tables of dead runs, kept for `mire memory`: moved into one folder, which keeps the newest.
 */
#include "store/disk.h"
#include "base/alloc.h"
#include "platform/file.h"
#include "platform/own.h"
#include "store/inside.h"
#include "store/runs.h"
#include "store/tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER   "memory"
#define LOOK_MAX 64u  /* files in the folder that are looked at */
#define BLOCK    512u /* of st_blocks */

struct kept_file {
    char name[256];
    struct timespec when;
    uint64_t bytes; /* on disk */
};

/* The newest comes first. */
static int by_age(const void *a, const void *b)
{
    const struct kept_file *x = a, *y = b;

    if (x->when.tv_sec != y->when.tv_sec)
        return x->when.tv_sec < y->when.tv_sec ? 1 : -1;
    return (x->when.tv_nsec < y->when.tv_nsec) - (x->when.tv_nsec > y->when.tv_nsec);
}

static size_t list(struct kept_file *files, DIR *dir)
{
    size_t count = 0;

    for (struct dirent *entry; count < LOOK_MAX && (entry = mire__own.readdir(dir));) {
        struct kept_file *file = &files[count];
        struct stat info;

        mire__store_sweep(dirfd(dir), entry->d_name);
        if (mire__store_ends_with(entry->d_name, ".new") ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        snprintf(file->name, sizeof(file->name), "%s", entry->d_name);
        file->when = mire__file_changed(&info);
        file->bytes = (uint64_t)info.st_blocks * BLOCK;
        count++;
    }
    mire__own.qsort(files, count, sizeof(*files), by_age);
    return count;
}

static void enforce(const char *folder, uint32_t runs, uint64_t bytes)
{
    struct kept_file *files = mire__calloc(LOOK_MAX, sizeof(*files));
    DIR *dir = files ? mire__own.opendir(folder) : NULL;
    size_t count = dir ? list(files, dir) : 0;
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += files[i].bytes;
        if (i >= runs || (i > 0 && sum > bytes))
            unlinkat(dirfd(dir), files[i].name, 0);
    }
    if (dir)
        mire__own.closedir(dir);
    mire__free(files);
}

enum mire_err mire__store_keep(struct store *store, const char *run, uint32_t runs, uint64_t bytes)
{
    char folder[MIRE_STORE_PATH_MAX], from[MIRE_STORE_PATH_MAX], to[MIRE_STORE_PATH_MAX];
    int length;

    if (mire__store_tables_settle(store, run) != MIRE_OK || !mire__store_tables_path(from, store, run) ||
        !mire__store_path(folder, store, FOLDER, "") || mire__disk_make_dir(folder) != MIRE_OK)
        return MIRE_E_STORE;
    length = snprintf(to, sizeof(to), "%s/%s" MIRE_STORE_HEAP, folder, run);
    if (length < 0 || (size_t)length >= sizeof(to) || rename(from, to) != 0)
        return MIRE_E_STORE;
    utimensat(AT_FDCWD, to, NULL, AT_SYMLINK_NOFOLLOW); /* its age counts from the move */
    enforce(folder, runs, bytes);
    return MIRE_OK;
}

/* No process has the tables mapped, and their run has no evidence. */
static bool is_orphan(struct store *store, const char *run)
{
    char path[MIRE_STORE_PATH_MAX];
    bool alone;
    int fd;

    if (!mire__store_run_path(path, store, run, MIRE_STORE_EXIT) || access(path, F_OK) == 0)
        return false;
    if (!mire__store_tables_path(path, store, run)) {
        mire__store_tables_drop(store, run); /* the link's file was in memory, and the machine restarted */
        return false;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    alone = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return alone;
}

size_t mire__store_keep_orphans(struct store *store, uint32_t runs, uint64_t bytes)
{
    char path[MIRE_STORE_PATH_MAX], run[NAME_MAX + 1];
    size_t count = 0, length;
    DIR *dir;

    if (!mire__store_path(path, store, "box", "") || !(dir = mire__own.opendir(path)))
        return 0;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));) {
        if (!mire__store_ends_with(entry->d_name, MIRE_STORE_HEAP))
            continue;
        length = strlen(entry->d_name) - strlen(MIRE_STORE_HEAP);
        memcpy(run, entry->d_name, length);
        run[length] = '\0';
        count += is_orphan(store, run) && mire__store_keep(store, run, runs, bytes) == MIRE_OK;
    }
    mire__own.closedir(dir);
    return count;
}
