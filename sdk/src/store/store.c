/*
 * store.c - the store's directory: made, opened, swept; and its smallest files.
 */
#include "store/inside.h"

#include "base/alloc.h"
#include "platform/platform.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ASIDE_AGE_S 3600 /* an aside this old has lost its writer */

bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/%s%s", store->dir, name, suffix);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

enum mire_err mire__store_open(struct store **store_out, const char *dir, const struct store_caps *caps)
{
    struct store *store = mire__calloc(1, sizeof(*store));
    char path[MIRE_STORE_PATH_MAX];
    enum mire_err err = MIRE_E_STORE;

    *store_out = NULL;
    if (!store)
        return MIRE_E_MEMORY;
    store->caps = *caps;
    store->pid = mire__pid();
    if (mire__disk_make_dir(dir) != MIRE_OK || !realpath(dir, path) || !(store->dir = mire__strdup(path)))
        goto fail;
    if (!mire__store_path(path, store, "box", "") || mire__disk_make_dir(path) != MIRE_OK)
        goto fail;
    if (!mire__store_path(path, store, "out", "") || mire__disk_make_dir(path) != MIRE_OK)
        goto fail;
    if (access(path, R_OK | W_OK | X_OK) != 0)
        goto fail;
    *store_out = store;
    return MIRE_OK;
fail:
    mire__store_close(store);
    return err;
}

void mire__store_close(struct store *store)
{
    if (!store)
        return;
    if (store->dir && store->pid == mire__pid()) /* a forked child has a copy of the counts */
        mire__store_save_drops(store);
    mire__free(store->dir);
    mire__free(store);
}

void mire__store_set_sync(struct store *store, enum mire_store_sync sync)
{
    store->sync = sync;
}

const char *mire__store_dir(const struct store *store)
{
    return store->dir;
}

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") == length;
}

static bool is_made(const struct store *store, const char *name)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_path(path, store, name, "") && access(path, F_OK) == 0;
}

enum mire_err mire__store_install(char install[33], struct store *store)
{
    char digits[33];
    uint8_t random[16];
    const struct disk_part part = {digits, 32};

    for (int tries = 0; tries < 3; tries++) {
        bool made = is_made(store, "install"); /* before it is read: one that comes in between is whole */

        memset(digits, 0, sizeof(digits));
        ssize_t size = mire__store_load(store, "install", digits, 32);
        if (size == 32 && is_hex(digits, 32)) {
            memcpy(install, digits, sizeof(digits));
            return MIRE_OK;
        }
        mire__random(random, sizeof(random));
        for (size_t i = 0; i < sizeof(random); i++)
            snprintf(digits + 2 * i, 3, "%02x", random[i]);
        /* Another process may have been faster: its identifier holds. A word that is none is replaced. */
        mire__store_save_early(store, "install", &part, 1, made ? 0 : MIRE_DISK_EXCLUSIVE);
    }
    return MIRE_E_STORE;
}

bool mire__store_ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

void mire__store_sweep(int dir, const char *name)
{
    struct stat info;

    if (mire__store_ends_with(name, ".new") && fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_mtime < time(NULL) - ASIDE_AGE_S)
        unlinkat(dir, name, 0);
}
