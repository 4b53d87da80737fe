/*
 * unpack.c - the cache of unpacked debug files: <build id>.debug or <build id>.symtab.
 */
#include "work/unpack.h"

#include "base/log.h"
#include "pg/symbol.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ID_MAX 64 /* bytes of a build id */

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* All pieces into an open file. 1 done, 0 a piece is missing or broken, below zero a fault. */
static int write_pieces(int fd, char *piece, struct pg_tx *tx, struct pg_bytes id, const struct symbol_info *info)
{
    int64_t left = info->size_bytes;
    for (int32_t part = 0; left > 0; part++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        int rc = pg_symbol_piece(&rows, tx, id, info->debug, part);
        if (rc)
            return rc;
        if (!pg_row_count(rows))
            return 0;
        struct pg_bytes frame = pg_bytes(rows, 0, 0);
        size_t len = ZSTD_decompress(piece, MIRE_SYMBOL_PIECE, frame.bytes, frame.len);
        if (ZSTD_isError(len) || !len || (int64_t)len > left)
            return 0;
        if (!write_all(fd, piece, len))
            return MIRE_FAULT_SYSTEM;
        left -= (int64_t)len;
    }
    return 1;
}

static int fetch(const char *path, struct pg_tx *tx, struct pg_bytes id, const struct symbol_info *info)
{
    char aside[PATH_MAX];
    if (snprintf(aside, sizeof aside, "%s.XXXXXX", path) >= (int)sizeof aside)
        return MIRE_FAULT_SYSTEM;
    MIRE_SCOPED(free_memory) char *piece = malloc(MIRE_SYMBOL_PIECE);
    if (!piece)
        return MIRE_FAULT_MEMORY;
    MIRE_SCOPED(close_fd) int fd = mkstemp(aside);
    if (fd < 0)
        return MIRE_FAULT_SYSTEM;
    int rc = write_pieces(fd, piece, tx, id, info);
    if (rc == 1 && rename(aside, path) != 0)
        rc = MIRE_FAULT_SYSTEM;
    if (rc != 1)
        unlink(aside);
    return rc;
}

struct cached {
    char name[2 * ID_MAX + 32];
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

/* Debug files of the cache, also those a dead process left half written. Returns how many; *out is the caller's. */
static size_t list(struct cached **out, uint64_t *sum, DIR *dir)
{
    size_t count = 0;
    size_t room = 0;
    *out = NULL;
    *sum = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct cached file;
        struct stat st;
        if ((!strstr(entry->d_name, ".debug") && !strstr(entry->d_name, ".symtab")) ||
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

/* Remove what was used longest ago until `coming` more bytes fit. An open file goes on being read by who has it open.
 */
static void make_room(const struct unpack *unpack, uint64_t coming)
{
    uint64_t sum;
    DIR *dir = unpack->cache_max_bytes ? opendir(unpack->cache_dir) : NULL;
    if (!dir)
        return;
    MIRE_SCOPED(free_memory) struct cached *files;
    size_t count = list(&files, &sum, dir);
    if (count)
        qsort(files, count, sizeof *files, by_use);
    for (size_t i = 0; i < count && sum + coming > unpack->cache_max_bytes; i++) {
        if (unlinkat(dirfd(dir), files[i].name, 0) != 0)
            continue;
        sum -= files[i].bytes;
        log_event(unpack->log, MIRE_LOG_DEBUG, "work.cache_removed", LOG_TEXT("file", files[i].name));
    }
    closedir(dir);
}

int unpack_find(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len)
{
    struct unpack *unpack = context;
    struct symbol_info info;
    struct stat st;
    char hex[2 * ID_MAX + 1];
    if (!unpack->cache_dir || id_len > ID_MAX)
        return 0;
    int found = pg_symbol_find(&info, unpack->tx, (struct pg_bytes){id, id_len});
    if (found <= 0)
        return found;
    hex_format(hex, id, id_len);
    if (snprintf(path, path_room, "%s/%s.%s", unpack->cache_dir, hex, info.debug ? "debug" : "symtab") >=
        (int)path_room)
        return MIRE_FAULT_SYSTEM;
    if (stat(path, &st) == 0 && st.st_size == info.size_bytes) {
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now */
        return 1;
    }
    make_room(unpack, (uint64_t)info.size_bytes);
    return fetch(path, unpack->tx, (struct pg_bytes){id, id_len}, &info);
}
