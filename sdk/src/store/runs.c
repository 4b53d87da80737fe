/*
 * runs.c - runs that are over: found by their evidence, whose lock nobody holds any more.
 */
#include "store/runs.h"

#include "platform/platform.h"
#include "store/disk.h"
#include "store/inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVIDENCE_MAX (1u << 20)

void mire__store_run_name(char run[MIRE_STORE_RUN_BYTES])
{
    uint64_t random[2];

    mire__random(random, sizeof(random));
    snprintf(run, MIRE_STORE_RUN_BYTES, "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
}

bool mire__store_run_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run, const char *suffix)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/box/%s%s", store->dir, run, suffix);

    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

/* "<32 hex digits><suffix>" */
static bool read_name(char run[MIRE_STORE_RUN_BYTES], const char *name, const char *suffix)
{
    const size_t length = MIRE_STORE_RUN_BYTES - 1;

    if (strspn(name, "0123456789abcdef") != length || strcmp(name + length, suffix) != 0)
        return false;
    memcpy(run, name, length);
    run[length] = '\0';
    return true;
}

bool mire__store_run_has(const struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_run_path(path, store, run, suffix) && access(path, F_OK) == 0;
}

static void forget(const struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    if (mire__store_run_path(path, store, run, suffix))
        unlink(path);
}

/* The evidence is locked. Its file may have been deleted between our open and our lock. */
static void take_over(struct store *store, int fd, struct store_run *run, mire__store_run_fn *take, void *context)
{
    struct stat info;
    void *bytes;

    if (fstat(fd, &info) != 0 || info.st_nlink == 0 || info.st_size > EVIDENCE_MAX)
        return;
    bytes = malloc(info.st_size > 0 ? (size_t)info.st_size : 1);
    if (bytes && pread(fd, bytes, (size_t)info.st_size, 0) == info.st_size) {
        run->evidence = bytes;
        run->size = (size_t)info.st_size;
        run->crash_file = mire__store_run_has(store, run->name, MIRE_STORE_CRASH);
        if (take(context, run)) {
            forget(store, run->name, MIRE_STORE_EXIT);
            forget(store, run->name, MIRE_STORE_CRASH);
        }
    }
    free(bytes);
}

static void recover_one(struct store *store, int dir, const char *name, mire__store_run_fn *take, void *context)
{
    struct store_run run = {0};
    int fd;

    if (!read_name(run.name, name, MIRE_STORE_EXIT)) {
        /* Whose evidence is gone has been told of. */
        if (read_name(run.name, name, MIRE_STORE_CRASH) && !mire__store_run_has(store, run.name, MIRE_STORE_EXIT))
            unlinkat(dir, name, 0);
        return;
    }
    fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        take_over(store, fd, &run, take, context);
    close(fd);
}

/* A program that is killed, or executes another one, leaves what it was just writing. */
static void sweep_top(const struct store *store)
{
    DIR *dir = opendir(store->dir);

    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        mire__store_sweep(dirfd(dir), entry->d_name);
    closedir(dir);
}

void mire__store_runs_recover(struct store *store, mire__store_run_fn *take, void *context)
{
    char path[MIRE_STORE_PATH_MAX];
    DIR *dir;

    sweep_top(store);
    if (!mire__store_path(path, store, "box", "") || !(dir = opendir(path)))
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        recover_one(store, dirfd(dir), entry->d_name, take, context);
    closedir(dir);
}
