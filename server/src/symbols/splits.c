/*
 * splits.c - split files are asked for by their ids, lowest first: by that a package is known. Once a package was
 * found, it is taken to hold all others.
 */
#include "symbols/splits.h"
#include "symbols/convert.h"

#include "base/id.h"
#include "base/scope.h"
#include "base/write.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ID_LEN     MIRE_SYMBOL_SPLIT_ID
#define MISSES_MAX 64 /* without a hit: then nothing of it was sent */

struct gathering {
    const struct symbols_options *options;
    const char *beside;
    int fd;
    bool package; /* one was found */
    size_t found;
    struct symbol_splits *lack;
};

static void id_bytes(uint8_t out[ID_LEN], uint64_t id)
{
    for (unsigned i = 0; i < ID_LEN; i++)
        out[i] = (uint8_t)(id >> (56 - 8 * i));
}

/* Take a file if it is a split one: any package, or the one of that id. */
static bool take(struct gathering *g, const char *path, const uint8_t *id)
{
    struct object_facts facts;
    struct file_bytes file;
    if (!file_bytes_map(&file, path))
        return false;
    bool good = !object_look(&facts, file.bytes, file.len, NULL, 0) && facts.split &&
                (id ? !memcmp(facts.id, id, ID_LEN) : facts.package);
    if (good && g->fd < 0)
        g->fd = g->options->cache_dir ? open(g->options->cache_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                                      : memfd_create("mire-splits", MFD_CLOEXEC);
    uint64_t len = file.len;
    good = good && g->fd >= 0 && write_all(g->fd, &len, sizeof len) && write_all(g->fd, file.bytes, file.len);
    if (good) {
        g->found++;
        g->package |= facts.package;
    }
    file_bytes_unmap(&file);
    return good;
}

static int uploaded(char *path, const struct symbols_options *options, const uint8_t id[ID_LEN])
{
    return options->uploaded ? options->uploaded(options->uploaded_context, path, PATH_MAX, id, ID_LEN) : 0;
}

/* 0 or a fault. */
static int take_wanted(struct gathering *g, const struct convert_want *want)
{
    char path[PATH_MAX];
    uint8_t id[ID_LEN];
    id_bytes(id, want->id);
    int rc = uploaded(path, g->options, id);
    if (rc < 0 || (rc > 0 && take(g, path, id)))
        return rc < 0 ? rc : 0;
    if (g->beside[0] && want->path[0] && take(g, want->path, id))
        return 0;
    if (g->lack->count < MIRE_SYMBOL_SPLITS)
        memcpy(g->lack->ids[g->lack->count++], id, ID_LEN);
    return 0;
}

/* app.dwp beside app, or beside app.debug. */
static void take_beside(struct gathering *g)
{
    char path[PATH_MAX];
    size_t len = strlen(g->beside);
    bool debug = len > 6 && !strcmp(g->beside + len - 6, ".debug");
    if (len && snprintf(path, sizeof path, "%s.dwp", g->beside) < (int)sizeof path && take(g, path, NULL))
        return;
    if (debug && snprintf(path, sizeof path, "%.*s.dwp", (int)(len - 6), g->beside) < (int)sizeof path)
        (void)take(g, path, NULL);
}

int splits_gather(int *fd_out, struct symbol_splits *lack_out, const struct symbols_options *options, int wants,
                  const char *beside)
{
    struct gathering g = {.options = options, .beside = beside, .fd = -1, .lack = lack_out};
    struct convert_want want;
    int rc = 0;
    lack_out->count = 0;
    take_beside(&g);
    for (size_t i = 0; !rc && !g.package && (g.found || i < MISSES_MAX); i++) {
        if (pread(wants, &want, sizeof want, (off_t)(i * sizeof want)) != (ssize_t)sizeof want)
            break;
        want.path[sizeof want.path - 1] = '\0';
        rc = take_wanted(&g, &want);
    }
    if (g.package)
        lack_out->count = 0;
    *fd_out = g.fd;
    return rc;
}

static bool name_it(char *out, const struct symbols_options *options, const uint8_t *id, size_t id_len)
{
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    hex_format(hex, id, id_len);
    return options->cache_dir && id_len &&
           snprintf(out, PATH_MAX, "%s/%s.lacks.cache", options->cache_dir, hex) < PATH_MAX;
}

void splits_lacking(struct symbol_splits *out, const struct symbols_options *options, const uint8_t *id, size_t id_len)
{
    char path[PATH_MAX];
    out->count = 0;
    if (!name_it(path, options, id, id_len))
        return;
    MIRE_SCOPED(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, out->ids, sizeof out->ids) : 0;
    out->count = len > 0 ? (size_t)len / ID_LEN : 0;
}

int splits_came(const struct symbols_options *options, const uint8_t *id, size_t id_len)
{
    char path[PATH_MAX];
    struct symbol_splits lack;
    int rc = 0;
    splits_lacking(&lack, options, id, id_len);
    for (size_t i = 0; i < lack.count && !rc; i++)
        rc = uploaded(path, options, lack.ids[i]);
    return rc;
}

void splits_note(const struct symbols_options *options, const uint8_t *id, size_t id_len,
                 const struct symbol_splits *lack)
{
    char path[PATH_MAX];
    if (!name_it(path, options, id, id_len))
        return;
    (void)unlink(path);
    if (!lack->count)
        return;
    MIRE_SCOPED(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && !write_all(fd, lack->ids, lack->count * sizeof lack->ids[0]))
        (void)unlink(path);
}
