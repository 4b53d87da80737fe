/*
 * unpack.c - uploaded debug files until their conversion: <build id>.<contents>.debug or .symtab. Other contents of a
 * build id are another file.
 */
#include "fetch/unpack.h"

#include "base/log.h"
#include "model/report.h"
#include "rows/symbol.h"
#include "symbolizer/cache_directory.h"
#include "symbolizer/symbolizer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

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
static int write_pieces(int fd, char *piece, struct pg_tx *tx, const struct symbol_info *info)
{
    int64_t left = info->size_bytes;

    for (int32_t part = 0; left > 0; part++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        int rc = rows_symbol_piece(&rows, tx, (struct pg_bytes){info->hash, sizeof info->hash}, part);
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

static int fetch(const char *path, struct pg_tx *tx, const struct symbol_info *info)
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
    int rc = write_pieces(fd, piece, tx, info);
    if (rc == 1 && rename(aside, path) != 0)
        rc = MIRE_FAULT_SYSTEM;
    if (rc != 1)
        unlink(aside);
    return rc;
}

int unpack_find(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len)
{
    struct unpack *unpack = context;
    struct symbol_info info;
    struct stat st;
    char hex[2 * MIRE_BUILD_ID_MAX + 1];

    if (!unpack->cache_dir || id_len > MIRE_BUILD_ID_MAX)
        return 0;
    int found = rows_symbol_find(&info, unpack->tx, unpack->app_id, (struct pg_bytes){id, id_len});
    if (found <= 0)
        return found;
    hex_format(hex, info.id, info.id_len);
    if (snprintf(path, path_room, "%s/%s.%" PRIx64 ".%s", unpack->cache_dir, hex, info.contents_id,
                 info.debug ? "debug" : "symtab") >= (int)path_room)
        return MIRE_FAULT_SYSTEM;
    if (stat(path, &st) == 0 && st.st_size == info.size_bytes) {
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now */
        return 1;
    }
    size_t removed = cache_directory_make_room(unpack->cache_dir, unpack->cache_max_bytes, (uint64_t)info.size_bytes);
    if (removed)
        log_event(unpack->log, MIRE_LOG_DEBUG, "work.cache_removed", LOG_NUMBER("files", (long long)removed));
    return fetch(path, unpack->tx, &info);
}

int unpack_contents_id(void *context, uint64_t *out, const uint8_t *id, size_t id_len)
{
    const struct unpack *unpack = context;
    struct symbol_info info;
    if (!unpack->cache_dir)
        return 0;
    int found = rows_symbol_find(&info, unpack->tx, unpack->app_id, (struct pg_bytes){id, id_len});
    if (found <= 0)
        return found;
    *out = info.contents_id;
    int rc = info.is_unused ? rows_symbol_used(unpack->tx, &info) : 0;
    return rc ? rc : found;
}

void unpack_in(struct unpack *unpack, struct pg_tx *tx)
{
    unpack->tx = tx;
    unpack->arrivals = -1;
}

uint64_t unpack_owner(void *context)
{
    return (uint64_t)((const struct unpack *)context)->app_id;
}

int unpack_arrivals(void *context, int64_t *count_out)
{
    struct unpack *unpack = context;
    int rc = unpack->arrivals < 0 ? rows_symbol_arrivals(&unpack->arrivals, unpack->tx) : 0;
    *count_out = unpack->arrivals;
    return rc;
}

void unpack_forget(void *context, const char *path)
{
    (void)context;
    (void)unlink(path);
}
