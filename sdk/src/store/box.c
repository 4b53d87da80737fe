/*
 * box.c - blackboxes: a process makes one for itself, and another process takes it over after the owner's death.
 *
 * The mapping holds a lock (flock) on the file. The descriptor is closed after mmap, but the open file description
 * lives as long as the mapping. exec and exit drop the mapping, and fork does not copy it. Invariant: the lock is free
 * exactly when no process can write into the box. A file gets its final name after it is locked.
 */
#include "platform/file.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "store/disk.h"
#include "store/inside.h"
#include "store/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *map_box(int fd, size_t size)
{
    void *memory = mire__pages_map_file(size, fd);

    if (!memory)
        return NULL;
    if (!mire__pages_keep_from_child(memory, size)) {
        mire__pages_unmap(memory, size);
        return NULL;
    }
    madvise(memory, size, MADV_RANDOM); /* few pages are used: no read-ahead */
    return memory;
}

enum mire_err mire__store_box_open(struct store_box *box, struct store *store, const char *run, const char *suffix,
                                   size_t size, size_t reserved)
{
    char aside[MIRE_STORE_PATH_MAX];
    enum mire_err err = MIRE_E_STORE;
    void *memory;
    int fd;

    memset(box, 0, sizeof(*box));
    if (reserved == 0 || reserved > size || size > MIRE_STORE_BOX_MAX)
        return MIRE_E_RANGE;
    if (!mire__disk_allows(size) || !mire__store_run_path(box->path, store, run, suffix))
        return MIRE_E_STORE;
    fd = mire__disk_create_aside(aside, box->path, O_RDWR);
    if (fd < 0)
        return MIRE_E_STORE;
    /* A hole filled later by a store into the mapping would be SIGBUS on a full disk. */
    if (ftruncate(fd, (off_t)size) != 0 || !mire__file_reserve(fd, 0, reserved) ||
        flock(fd, LOCK_EX | LOCK_NB) != 0) /* held already, where the file system has locks */
        goto fail_file;
    err = MIRE_E_SYSTEM;
    memory = map_box(fd, size);
    if (!memory)
        goto fail_file;
    err = MIRE_E_STORE;
    if (rename(aside, box->path) != 0)
        goto fail_map;
    close(fd);
    box->memory = memory;
    box->size = size;
    return MIRE_OK;
fail_map:
    mire__pages_unmap(memory, size);
fail_file:
    unlink(aside);
    close(fd);
    return err;
}

enum mire_err mire__store_box_reserve(const struct store_box *box, size_t at, size_t size)
{
    /* The mapping's lock belongs to another open file description. */
    int fd = open(box->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool reserved = fd >= 0 && mire__file_reserve(fd, at, size);

    if (fd >= 0)
        close(fd);
    return reserved ? MIRE_OK : MIRE_E_STORE;
}

void mire__store_box_close(struct store_box *box)
{
    if (box->memory)
        unlink(box->path);
    mire__store_box_leave(box);
}

void mire__store_box_leave(struct store_box *box)
{
    if (!box->memory)
        return;
    mire__pages_unmap(box->memory, box->size);
    memset(box, 0, sizeof(*box));
}

enum box_fate { BOX_STAYS, BOX_GOES, BOX_IS_BROKEN };

static enum box_fate look_into(int fd, mire__store_box_fn *take, void *context)
{
    enum box_fate fate = BOX_STAYS;
    struct stat info;
    void *memory;
    size_t size;

    /* Another process may have taken the box over and deleted it between open and flock. */
    if (fstat(fd, &info) != 0 || info.st_nlink == 0)
        return BOX_STAYS;
    if (info.st_size <= 0 || info.st_size > MIRE_STORE_BOX_MAX)
        return BOX_IS_BROKEN;
    size = (size_t)info.st_size;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return BOX_STAYS;
    if (take(context, memory, size, mire__file_changed_ns(&info) / MIRE_NS_PER_MS))
        fate = BOX_GOES;
    munmap(memory, size);
    return fate;
}

static bool recover_one(struct store *store, int dir, const char *name, mire__store_box_fn *take, void *context)
{
    enum box_fate fate = BOX_STAYS;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        fate = look_into(fd, take, context);
    if (fate != BOX_STAYS)
        unlinkat(dir, name, 0);
    if (fate == BOX_IS_BROKEN)
        mire__store_count_drop(store, MIRE_DROP_BROKEN);
    close(fd);
    return fate != BOX_STAYS;
}

bool mire__store_run_box(struct store *store, const char *run, mire__store_box_fn *take, void *context)
{
    char name[MIRE_STORE_RUN_BYTES + sizeof(MIRE_STORE_BOX)], path[MIRE_STORE_PATH_MAX];
    int dir = -1;

    if (!mire__store_run_has(store, run, MIRE_STORE_BOX))
        return true;
    snprintf(name, sizeof(name), "%s" MIRE_STORE_BOX, run);
    if (mire__store_path(path, store, "box", ""))
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        recover_one(store, dir, name, take, context);
        close(dir);
    }
    return !mire__store_run_has(store, run, MIRE_STORE_BOX);
}

/* mire__store_runs_recover handles the blackbox of a run that has evidence. */
static bool is_alone(const struct store *store, const char *name)
{
    char run[MIRE_STORE_RUN_BYTES];

    if (!mire__store_ends_with(name, MIRE_STORE_BOX))
        return false;
    mire__text_copy(run, sizeof(run), name);
    return !mire__store_run_has(store, run, MIRE_STORE_EXIT);
}

size_t mire__store_recover(struct store *store, mire__store_box_fn *take, void *context)
{
    char path[MIRE_STORE_PATH_MAX];
    size_t count = 0;
    DIR *dir;

    if (!mire__store_path(path, store, "box", "") || !(dir = mire__own.opendir(path)))
        return 0;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));) {
        if (is_alone(store, entry->d_name))
            count += recover_one(store, dirfd(dir), entry->d_name, take, context);
        else
            mire__store_sweep(dirfd(dir), entry->d_name);
    }
    mire__own.closedir(dir);
    return count;
}
