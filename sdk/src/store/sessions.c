/*
 * sessions.c - see sessions.h.
 */
#include "store/sessions.h"

#include "platform/own.h"
#include "store/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER     "session"
#define LOCK_MS    1000u /* on a busy machine the holder of the lock may not run for a while */
#define NAME_BYTES (sizeof(FOLDER) + MIRE_STORE_RUN_BYTES)

int mire__store_sessions_lock(const struct store *store)
{
    return mire__store_lock(store, LOCK_MS);
}

void mire__store_sessions_unlock(int lock)
{
    mire__disk_unlock(lock);
}

static void name_of(char out[NAME_BYTES], const char *name)
{
    snprintf(out, NAME_BYTES, FOLDER "/%s", name);
}

enum mire_err mire__store_session_load(void *out, size_t size, const struct store *store, const char *name)
{
    char inside[NAME_BYTES];
    enum frame_state state;

    name_of(inside, name);
    return mire__store_load_locked(&state, store, inside, out, size) == (ssize_t)size ? MIRE_OK : MIRE_E_STATE;
}

bool mire__store_session_is_there(const struct store *store, const char *name)
{
    char inside[NAME_BYTES], path[MIRE_STORE_PATH_MAX];

    name_of(inside, name);
    return mire__store_path(path, store, inside, "") && access(path, F_OK) == 0;
}

bool mire__store_sessions_seen(const struct store *store)
{
    char folder[MIRE_STORE_PATH_MAX];

    return mire__store_path(folder, store, FOLDER, "") && faccessat(AT_FDCWD, folder, R_OK | X_OK, AT_EACCESS) == 0;
}

enum mire_err mire__store_session_save(struct store *store, const char *name, const void *bytes, size_t size)
{
    const struct disk_part part = {bytes, size};
    char inside[NAME_BYTES], folder[MIRE_STORE_PATH_MAX];

    name_of(inside, name);
    if (!mire__store_path(folder, store, FOLDER, "") || mire__disk_make_dir(folder) != MIRE_OK)
        return MIRE_E_STORE;
    return mire__store_save_early(store, inside, &part, 1, 0);
}

void mire__store_session_forget(const struct store *store, const char *name)
{
    char inside[NAME_BYTES], path[MIRE_STORE_PATH_MAX];

    name_of(inside, name);
    if (mire__store_path(path, store, inside, ""))
        mire__store_remove(store, path);
}

static DIR *open_folder(const struct store *store, const char *folder)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_path(path, store, folder, "") ? mire__own.opendir(path) : NULL;
}

size_t mire__store_session_list(char names[MIRE_STORE_SESSIONS][MIRE_STORE_RUN_BYTES], const struct store *store)
{
    DIR *dir = open_folder(store, FOLDER);
    size_t count = 0;

    for (struct dirent *entry; dir && count < MIRE_STORE_SESSIONS && (entry = mire__own.readdir(dir));) {
        mire__store_sweep(dirfd(dir), entry->d_name);
        if (strlen(entry->d_name) == MIRE_STORE_RUN_BYTES - 1 &&
            strspn(entry->d_name, "0123456789abcdef") == MIRE_STORE_RUN_BYTES - 1)
            memcpy(names[count++], entry->d_name, MIRE_STORE_RUN_BYTES);
    }
    if (dir)
        mire__own.closedir(dir);
    return count;
}

/* Is the lock held? Taking it for a moment is harmless: a live owner holds it already, and a recovery tries again. */
static bool lives(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        return false;
    return errno == EWOULDBLOCK;
}

static bool visit_one(int dir, const char *name, mire__store_visit_fn *visit, void *context)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    bool more = true;

    if (fd < 0)
        return true;
    if (fstat(fd, &info) == 0 && info.st_size > 0 && info.st_size <= MIRE_STORE_BOX_MAX) {
        bool alive = lives(fd);
        void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (memory != MAP_FAILED) {
            more = visit(context, memory, (size_t)info.st_size, alive);
            munmap(memory, (size_t)info.st_size);
        }
    }
    close(fd);
    return more;
}

void mire__store_visit_boxes(const struct store *store, mire__store_visit_fn *visit, void *context)
{
    DIR *dir = open_folder(store, "box");
    bool more = dir != NULL;

    for (struct dirent *entry; more && (entry = mire__own.readdir(dir));)
        if (mire__store_ends_with(entry->d_name, MIRE_STORE_BOX))
            more = visit_one(dirfd(dir), entry->d_name, visit, context);
    if (dir)
        mire__own.closedir(dir);
}
