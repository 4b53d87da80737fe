/*
 * file.c - files with a frame, and when they are synced.
 */
#include "store/inside.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

unsigned mire__store_how(const struct store *store, bool sealed)
{
    switch (store->sync) {
    case MIRE_STORE_SYNC_NEVER:
        return 0;
    case MIRE_STORE_SYNC_SEAL:
        return sealed ? MIRE_DISK_SYNC_FILE | MIRE_DISK_SYNC_NAME : MIRE_DISK_SYNC_FILE;
    case MIRE_STORE_SYNC_ALWAYS:
        break;
    }
    return MIRE_DISK_SYNC_FILE | MIRE_DISK_SYNC_NAME;
}

int mire__store_lock(const struct store *store, uint32_t wait_ms)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_path(path, store, "lock", "") ? mire__disk_lock(path, wait_ms) : -1;
}

/*
 * A file is durable only if the directories above it are, and these may not have been synced since they were made. The
 * installation's identifier is written at the start of a process without waiting for the disk, so it is synced here,
 * together with the first report that contains it.
 */
void mire__store_root(struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];

    if (store->sync == MIRE_STORE_SYNC_NEVER || atomic_load(&store->rooted) ||
        !mire__store_path(path, store, "install", ""))
        return;
    mire__disk_sync_file(path);
    for (char *slash; (slash = strrchr(path, '/')) && slash != path;) {
        *slash = '\0';
        mire__disk_sync_dir(path); /* a directory that may not be opened was not made by the SDK */
    }
    atomic_store(&store->rooted, true);
}

bool mire__store_remove(const struct store *store, const char *path)
{
    if (unlink(path) != 0)
        return false;
    if (store->sync == MIRE_STORE_SYNC_ALWAYS)
        mire__disk_sync_dir_of(path);
    return true;
}

ssize_t mire__store_load_locked(enum frame_state *state_out, const struct store *store, const char *name, void *out,
                                size_t cap)
{
    const size_t room = MIRE_FRAME_BYTES_MAX + cap + 1; /* one more, to notice larger files */
    char path[MIRE_STORE_PATH_MAX];
    ssize_t size = -1;
    struct frame frame;
    char *file;

    *state_out = FRAME_WHOLE;
    if (!mire__store_path(path, store, name, "") || access(path, F_OK) != 0 || !(file = mire__malloc(room)))
        return -1;
    size = mire__disk_read(file, room, path);
    if (size >= 0) {
        *state_out = mire__frame_check(&frame, file, (size_t)size);
        size = *state_out <= FRAME_OLD && frame.body_size <= cap ? (ssize_t)frame.body_size : -1;
    }
    if (size > 0)
        memcpy(out, file + frame.body_at, (size_t)size);
    mire__free(file);
    return size;
}

/* Count, then delete: a kill in between counts the file twice. */
static void refuse(struct store *store, const char *name, size_t cap)
{
    void *body = mire__malloc(cap + 1);
    char path[MIRE_STORE_PATH_MAX];
    enum frame_state state;
    struct ledger ledger;

    if (body && mire__store_path(path, store, name, "") && mire__ledger_open(&ledger, store, MIRE_STORE_LOCK_MS)) {
        /* Another process may have refused or replaced the file. */
        mire__store_load_locked(&state, store, name, body, cap);
        if (state > FRAME_OLD) {
            ledger.counts[state == FRAME_NEWER ? MIRE_DROP_FORMAT : MIRE_DROP_BROKEN]++;
            mire__ledger_save(&ledger, store, false);
            mire__store_remove(store, path);
        }
        mire__ledger_close(&ledger, store);
    }
    mire__free(body);
}

ssize_t mire__store_load(struct store *store, const char *name, void *out, size_t cap)
{
    enum frame_state state;
    ssize_t size = mire__store_load_locked(&state, store, name, out, cap);

    if (state > FRAME_OLD)
        refuse(store, name, cap);
    return size;
}

/* how: enum disk_how */
static enum mire_err write_framed(struct store *store, const char *name, const struct disk_part *parts, size_t count,
                                  unsigned how)
{
    struct disk_part all[1 + MIRE_SAVE_PARTS];
    const struct frame frame = {.value = 0};
    uint8_t head[MIRE_FRAME_BYTES];
    char path[MIRE_STORE_PATH_MAX];

    if (!mire__store_path(path, store, name, "") || count > MIRE_SAVE_PARTS)
        return MIRE_E_STORE;
    mire__frame_write(head, &frame, parts, count);
    all[0] = (struct disk_part){head, sizeof(head)};
    memcpy(all + 1, parts, count * sizeof(*parts));
    if (how & MIRE_DISK_SYNC_NAME)
        mire__store_root(store);
    return mire__disk_write(path, all, 1 + count, how);
}

enum mire_err mire__store_save(struct store *store, const char *name, const struct disk_part *parts, size_t count)
{
    return write_framed(store, name, parts, count, mire__store_how(store, false));
}

enum mire_err mire__store_save_early(struct store *store, const char *name, const struct disk_part *parts, size_t count,
                                     unsigned how)
{
    return write_framed(store, name, parts, count,
                        how | (store->sync == MIRE_STORE_SYNC_ALWAYS ? mire__store_how(store, true) : 0));
}

enum mire_err mire__store_save_sealed(struct store *store, const char *name, const struct disk_part *parts,
                                      size_t count)
{
    return write_framed(store, name, parts, count, mire__store_how(store, true));
}
