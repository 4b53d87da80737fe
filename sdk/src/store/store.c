/*
 * store.c - the store's directory: create, open, move, sweep; and the installation's identifier.
 */
#include "store/inside.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "store/sending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ASIDE_AGE_S 3600 /* where locks are refused: an aside this old has lost its writer */

bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/%s%s", store->dir, name, suffix);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

/* open() uses the effective user's rights; access() would check those of the real user. */
static bool may_use(const char *path)
{
    int refused = faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS);

    if (refused != 0 && errno == EINVAL)
        refused = access(path, R_OK | W_OK | X_OK);
    return refused == 0;
}

/* Create the missing directories of `dir`, and continue there. */
static enum mire_err settle(struct store *store, const char *dir)
{
    static const char *const parts[] = {"box", "out"};
    char whole[MIRE_STORE_PATH_MAX], path[MIRE_STORE_PATH_MAX];
    struct store_dir *place;
    int length;

    if (mire__disk_make_dir(dir) != MIRE_OK || !realpath(dir, whole))
        return MIRE_E_STORE;
    for (size_t i = 0; i < MIRE_COUNT(parts); i++) {
        length = snprintf(path, sizeof(path), "%s/%s", whole, parts[i]);
        if (length < 0 || (size_t)length >= sizeof(path) || mire__disk_make_dir(path) != MIRE_OK)
            return MIRE_E_STORE;
    }
    if (!may_use(path))
        return MIRE_E_STORE;
    for (place = store->places; place && strcmp(place->dir, whole) != 0;)
        place = place->next;
    if (!place) {
        place = mire__malloc(sizeof(*place) + strlen(whole) + 1);
        if (!place)
            return MIRE_E_MEMORY;
        place->next = store->places;
        mire__text_copy(place->dir, strlen(whole) + 1, whole);
        store->places = place;
    }
    atomic_store(&store->dir, place->dir);
    return MIRE_OK;
}

/* Zeros: it is not there. */
static struct store_place place_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (struct store_place){(uint64_t)info.st_dev, (uint64_t)info.st_ino}
                                  : (struct store_place){0};
}

static struct store_place boxes_of(const struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/box", store->home);

    return length > 0 && (size_t)length < sizeof(path) ? place_of(path) : (struct store_place){0};
}

static bool same_place(struct store_place one, struct store_place other)
{
    return one.device == other.device && one.inode == other.inode;
}

enum mire_err mire__store_open(struct store **store_out, const char *dir, const struct store_caps *caps)
{
    struct store *store = mire__calloc(1, sizeof(*store));
    enum mire_err err;

    *store_out = NULL;
    if (!store)
        return MIRE_E_MEMORY;
    store->caps = *caps;
    store->pid = mire__pid();
    store->unsaved = store->own_unsaved;
    err = settle(store, dir);
    if (err != MIRE_OK) {
        mire__store_close(store);
        return err;
    }
    store->home = atomic_load(&store->dir);
    store->root = place_of("/");
    store->boxes = boxes_of(store);
    *store_out = store;
    return MIRE_OK;
}

void mire__store_close(struct store *store)
{
    if (!store)
        return;
    if (store->dir && store->pid == mire__pid()) /* a forked child has a copy of the counts */
        mire__store_save_drops(store);
    mire__outbox_close(store);
    for (struct store_dir *place = store->places, *next; place; place = next) {
        next = place->next;
        mire__free(place);
    }
    mire__free(store);
}

void mire__store_on_lost(struct store *store, mire__store_lost_fn *lost, void *context)
{
    store->lost = lost;
    store->lost_context = context;
}

enum mire_err mire__store_move(struct store *store, const char *dir)
{
    uint32_t consent = atomic_load(&store->consent);
    enum mire_err err;

    if (atomic_flag_test_and_set(&store->moving))
        return MIRE_E_STATE;
    err = settle(store, dir);
    atomic_flag_clear(&store->moving);
    if (err == MIRE_OK && consent != MIRE_CONSENT_UNKNOWN)
        mire__store_set_consent(store, (enum mire_consent)consent);
    return err;
}

bool mire__store_was_removed(const struct store *store)
{
    return same_place(place_of("/"), store->root) && !same_place(boxes_of(store), store->boxes);
}

bool mire__store_remake(struct store *store)
{
    const char *dir = atomic_load(&store->dir);
    char path[MIRE_STORE_PATH_MAX];

    snprintf(path, sizeof(path), "%s/out", dir);
    if (!same_place(place_of("/"), store->root) || access(path, F_OK) == 0 || errno != ENOENT ||
        mire__store_move(store, dir) != MIRE_OK)
        return false;
    atomic_store(&store->rooted, false);
    mire__store_count_drop(store, MIRE_DROP_BROKEN);
    return true;
}

void mire__store_go_home(struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];

    if (atomic_load(&store->dir) == store->home)
        return;
    snprintf(path, sizeof(path), "%s/out", store->home);
    if (may_use(path))
        atomic_store(&store->dir, store->home);
}

void mire__store_set_sync(struct store *store, enum mire_store_sync sync)
{
    store->sync = sync;
}

uint64_t mire__store_age_ms(const struct store *store)
{
    return store->caps.age_ms;
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
        bool made = is_made(store, "install"); /* checked before the read: a file that appears in between is complete */

        memset(digits, 0, sizeof(digits));
        ssize_t size = mire__store_load(store, "install", digits, 32);
        if (size == 32 && is_hex(digits, 32)) {
            memcpy(install, digits, sizeof(digits));
            return MIRE_OK;
        }
        mire__random(random, sizeof(random));
        for (size_t i = 0; i < sizeof(random); i++)
            snprintf(digits + 2 * i, 3, "%02x", random[i]);
        /* If another process was faster, its identifier holds. A file without a valid identifier is replaced. */
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
    int fd = mire__store_ends_with(name, ".new") ? openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 ||
        (errno != EWOULDBLOCK && fstat(fd, &info) == 0 && info.st_mtime < time(NULL) - ASIDE_AGE_S))
        unlinkat(dir, name, 0);
    close(fd);
}
