/*
 * cache_directory.c - names, times and sizes of converted files.
 */
#include "symbolizer/cache_directory.h"
#include "cache/cache.h"

#include "base/id.h"
#include "base/scope.h"
#include "base/write.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BAD_FOR_S (24 * 3600)
#define BAD_MAGIC \
    "Mire\x7f"    \
    "BAD"

static bool name_it(char *out, size_t room, const struct cache_key *key)
{
    static const char *const kinds[] = {"", "symtab", "debug", "mapping"};
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    if (!key->dir || !key->id_len)
        return false;
    char contents_id[24] = "";
    hex_format(hex, key->id, key->id_len);
    if (key->contents_id)
        snprintf(contents_id, sizeof contents_id, ".%016" PRIx64, key->contents_id);
    return snprintf(out, room, "%s/%s%s.%s.cache", key->dir, hex, contents_id, kinds[key->kind]) < (int)room;
}

bool cache_directory_open(struct module **out, const struct cache_key *key)
{
    char path[4096];
    if (!name_it(path, sizeof path, key) || cache_open(out, path, key->id, key->id_len, false))
        return false; /* no cache, another version, or damaged: convert again */
    (void)utimensat(AT_FDCWD, path, NULL, 0);
    return true;
}

bool cache_directory_open_mapping(struct retrace **out, const struct cache_key *key)
{
    char path[4096];
    MIRE_SCOPED(close_fd) int fd = name_it(path, sizeof path, key) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || retrace_map(out, fd, false))
        return false;
    (void)futimens(fd, NULL);
    return true;
}

bool cache_directory_refused(const struct cache_key *key, const char *bad)
{
    char path[4096], given[sizeof BAD_MAGIC + 4096];
    struct stat st;
    MIRE_SCOPED(close_fd) int fd = name_it(path, sizeof path, key) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &st) != 0 || time(NULL) - st.st_mtime >= BAD_FOR_S)
        return false;
    ssize_t len = read(fd, given, sizeof given - 1);
    given[len > 0 ? len : 0] = '\0';
    return !strncmp(given, BAD_MAGIC, strlen(BAD_MAGIC)) && !strcmp(given + strlen(BAD_MAGIC), bad);
}

bool cache_directory_begin(struct cache_slot *place, const struct cache_key *key)
{
    char lock[4096];
    *place = (struct cache_slot){.lock = -1};
    if (!key->dir || !key->id_len) {
        place->fd = memfd_create("mire-symbols", MFD_CLOEXEC);
        return place->fd >= 0;
    }
    if (!name_it(place->path, sizeof place->path, key) ||
        snprintf(lock, sizeof lock, "%s/converting", key->dir) >= (int)sizeof lock ||
        snprintf(place->aside, sizeof place->aside, "%s/XXXXXX.cache", key->dir) >= (int)sizeof place->aside)
        return false;
    place->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (place->lock < 0)
        return false;
    while (flock(place->lock, LOCK_EX) != 0)
        continue; /* interrupted by a signal */
    place->fd = mkostemps(place->aside, (int)strlen(".cache"), O_CLOEXEC);
    if (place->fd < 0)
        close(place->lock);
    return place->fd >= 0;
}

bool cache_directory_commit(struct cache_slot *place)
{
    bool good = place->lock < 0 || rename(place->aside, place->path) == 0;
    if (place->lock >= 0)
        close(place->lock);
    close(place->fd);
    return good;
}

static bool note_bad(int fd, const char *bad)
{
    return ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 && write_all(fd, BAD_MAGIC, strlen(BAD_MAGIC)) &&
           write_all(fd, bad, strlen(bad));
}

void cache_directory_abort(struct cache_slot *place, const char *bad)
{
    if (place->lock >= 0) {
        if (!bad || !note_bad(place->fd, bad) || rename(place->aside, place->path) != 0)
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

/* List the files of the directory, including half-written files of dead processes. Returns their number; the caller
 * frees *out. */
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

size_t cache_directory_make_room(const char *path, uint64_t max_bytes, uint64_t coming)
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
