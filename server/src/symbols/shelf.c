/*
 * shelf.c - names, times and sizes of converted files.
 */
#include "symbols/shelf.h"
#include "symbols/cache.h"

#include "base/id.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BAD_FOR_S (24 * 3600)

static bool name_it(char *out, size_t room, const char *dir, const uint8_t *id, size_t id_len, enum symbol_kind kind)
{
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    hex_format(hex, id, id_len);
    return snprintf(out, room, "%s/%s.%s.cache", dir, hex, kind == MIRE_SYMBOLS_DEBUG ? "debug" : "symtab") < (int)room;
}

enum shelf_answer shelf_open(struct module **out, const char *dir, const uint8_t *id, size_t id_len,
                             enum symbol_kind kind)
{
    char path[4096];
    struct stat st;
    if (!dir || !id_len || !name_it(path, sizeof path, dir, id, id_len, kind) || stat(path, &st) != 0)
        return SHELF_NONE;
    if (!st.st_size)
        return time(NULL) - st.st_mtime < BAD_FOR_S ? SHELF_BAD : SHELF_NONE;
    if (cache_open(out, path, id, id_len, false))
        return SHELF_NONE; /* of another version, or damaged: it is made anew */
    (void)utimensat(AT_FDCWD, path, NULL, 0);
    return SHELF_OPENED;
}

bool shelf_begin(struct shelf_place *place, const char *dir, const uint8_t *id, size_t id_len, enum symbol_kind kind)
{
    char lock[4096];
    *place = (struct shelf_place){.lock = -1};
    if (!dir || !id_len) {
        place->fd = memfd_create("mire-symbols", MFD_CLOEXEC);
        return place->fd >= 0;
    }
    if (!name_it(place->path, sizeof place->path, dir, id, id_len, kind) ||
        snprintf(lock, sizeof lock, "%s/converting", dir) >= (int)sizeof lock ||
        snprintf(place->aside, sizeof place->aside, "%s/XXXXXX.cache", dir) >= (int)sizeof place->aside)
        return false;
    place->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (place->lock < 0)
        return false;
    while (flock(place->lock, LOCK_EX) != 0)
        continue; /* a signal came */
    place->fd = mkostemps(place->aside, (int)strlen(".cache"), O_CLOEXEC);
    if (place->fd < 0)
        close(place->lock);
    return place->fd >= 0;
}

bool shelf_commit(struct shelf_place *place)
{
    bool good = place->lock < 0 || rename(place->aside, place->path) == 0;
    if (place->lock >= 0)
        close(place->lock);
    close(place->fd);
    return good;
}

void shelf_abort(struct shelf_place *place, bool bad)
{
    if (place->lock >= 0) {
        if (!bad || ftruncate(place->fd, 0) != 0 || rename(place->aside, place->path) != 0)
            unlink(place->aside);
        close(place->lock);
    }
    close(place->fd);
}

struct cached {
    char name[256];
    struct timespec used;
    uint64_t bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct cached *)a)->used;
    const struct timespec *y = &((const struct cached *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool is_ours(const char *name)
{
    return strstr(name, ".debug") || strstr(name, ".symtab") || strstr(name, ".cache");
}

/* Files of the directory, also those a dead process left half written. Returns how many; *out is the caller's. */
static size_t list(struct cached **out, uint64_t *sum, DIR *dir)
{
    size_t count = 0;
    size_t room = 0;
    *out = NULL;
    *sum = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct cached file;
        struct stat st;
        if (!is_ours(entry->d_name) ||
            snprintf(file.name, sizeof file.name, "%s", entry->d_name) >= (int)sizeof file.name ||
            fstatat(dirfd(dir), file.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (count == room) {
            struct cached *more = realloc(*out, (room = room * 2 + 64) * sizeof **out);
            if (!more)
                break;
            *out = more;
        }
        file.used = st.st_mtim;
        file.bytes = (uint64_t)st.st_size;
        *sum += file.bytes;
        (*out)[count++] = file;
    }
    return count;
}

size_t symbols_make_room(const char *path, uint64_t max_bytes, uint64_t coming)
{
    uint64_t sum;
    struct cached *files;
    size_t removed = 0;
    DIR *dir = max_bytes ? opendir(path) : NULL;
    if (!dir)
        return 0;
    size_t count = list(&files, &sum, dir);
    if (count)
        qsort(files, count, sizeof *files, by_use);
    for (size_t i = 0; i < count && sum + coming > max_bytes; i++) {
        if (unlinkat(dirfd(dir), files[i].name, 0) != 0)
            continue;
        sum -= files[i].bytes;
        removed++;
    }
    free(files);
    closedir(dir);
    return removed;
}
