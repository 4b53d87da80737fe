/*
 * runs.c - runs that have ended: their evidence is a file whose lock is free.
 */
#include "store/runs.h"

#include "base/alloc.h"
#include "platform/file.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "store/inside.h"
#include "store/tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVIDENCE_MAX (1u << 20)

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

static void forget(const struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    if (mire__store_run_path(path, store, run, suffix))
        unlink(path);
}

/* The caller holds the lock of the evidence. The file may have been deleted between open and flock. */
static void take_over(struct store *store, int fd, struct store_run *run, mire__store_run_fn *take, void *context)
{
    struct stat info;
    void *bytes;

    if (fstat(fd, &info) != 0 || info.st_nlink == 0 || info.st_size > EVIDENCE_MAX)
        return;
    bytes = mire__malloc(info.st_size > 0 ? (size_t)info.st_size : 1);
    if (bytes && pread(fd, bytes, (size_t)info.st_size, 0) == info.st_size) {
        run->evidence = bytes;
        run->size = (size_t)info.st_size;
        run->crash_file = mire__store_run_has(store, run->name, MIRE_STORE_CRASH);
        if (take(context, run)) {
            forget(store, run->name, MIRE_STORE_EXIT);
            forget(store, run->name, MIRE_STORE_CRASH);
        }
    }
    mire__free(bytes);
}

static void recover_one(struct store *store, int dir, const char *name, mire__store_run_fn *take, void *context)
{
    struct store_run run = {0};
    int fd;

    if (!read_name(run.name, name, MIRE_STORE_EXIT)) {
        /* Without evidence the run has been reported already. */
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

/* A program that is killed, or executes another one, leaves its unfinished file. */
static void sweep_top(const struct store *store)
{
    DIR *dir = mire__own.opendir(store->dir);

    if (!dir)
        return;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));)
        mire__store_sweep(dirfd(dir), entry->d_name);
    mire__own.closedir(dir);
}

void mire__store_runs_recover(struct store *store, mire__store_run_fn *take, void *context)
{
    char path[MIRE_STORE_PATH_MAX];
    DIR *dir;

    sweep_top(store);
    if (!mire__store_path(path, store, "box", "") || !(dir = mire__own.opendir(path)))
        return;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));)
        recover_one(store, dirfd(dir), entry->d_name, take, context);
    mire__own.closedir(dir);
}

/* ---- runs that could not be reported ---- */

#define LOOK_MAX 64u /* runs examined in one call */

struct dead_run {
    char name[MIRE_STORE_RUN_BYTES];
    uint64_t seen_ms; /* last write; wall clock */
};

/* The newest end comes first. */
static int by_time(const void *a, const void *b)
{
    const struct dead_run *x = a, *y = b;

    return (x->seen_ms < y->seen_ms) - (x->seen_ms > y->seen_ms);
}

/* If the lock is free, the process has ended. */
static bool is_dead(int dir, const char *name, uint64_t *seen_ms_out)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    bool dead = fd >= 0 && fstat(fd, &info) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (dead)
        *seen_ms_out = mire__file_changed_ns(&info) / MIRE_NS_PER_MS;
    if (fd >= 0)
        close(fd);
    return dead;
}

/* A run is found by its evidence, or by its blackbox if the evidence is gone. */
static size_t list_dead(struct dead_run *out, const struct store *store, DIR *dir)
{
    size_t count = 0;

    for (struct dirent *entry; count < LOOK_MAX && (entry = mire__own.readdir(dir));) {
        struct dead_run *run = &out[count];

        if (!read_name(run->name, entry->d_name, MIRE_STORE_EXIT) &&
            (!read_name(run->name, entry->d_name, MIRE_STORE_BOX) ||
             mire__store_run_has(store, run->name, MIRE_STORE_EXIT)))
            continue;
        count += is_dead(dirfd(dir), entry->d_name, &run->seen_ms);
    }
    mire__own.qsort(out, count, sizeof(*out), by_time);
    return count;
}

/* Delete the evidence last: its lock protects the other files. */
static void give_up(struct store *store, const char *run, enum store_reason reason)
{
    bool had_box = mire__store_run_has(store, run, MIRE_STORE_BOX);

    if (had_box)
        mire__store_count_drop(store, reason);
    forget(store, run, MIRE_STORE_BOX);
    mire__store_tables_drop(store, run);
    forget(store, run, MIRE_STORE_EXIT);
    forget(store, run, MIRE_STORE_CRASH);
}

size_t mire__store_runs_enforce(struct store *store, uint64_t now_ms)
{
    struct dead_run *runs = mire__calloc(LOOK_MAX, sizeof(*runs));
    char path[MIRE_STORE_PATH_MAX];
    size_t count = 0, given_up = 0;
    DIR *dir = runs && mire__store_path(path, store, "box", "") ? mire__own.opendir(path) : NULL;

    if (dir) {
        count = list_dead(runs, store, dir);
        mire__own.closedir(dir);
    }
    for (size_t i = 0; i < count; i++) {
        bool old = runs[i].seen_ms + store->caps.age_ms < now_ms;

        if (!old && i < MIRE_STORE_RUNS)
            continue;
        give_up(store, runs[i].name, old ? MIRE_DROP_AGE : MIRE_DROP_FULL);
        given_up++;
    }
    mire__free(runs);
    return given_up;
}
