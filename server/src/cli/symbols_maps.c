/* symbols_maps.c - reads maps from the places where a build puts them. */
#include "cli/symbols_maps.h"
#include "cli/say.h"

#include "base/scope.h"
#include "base/write.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool symbols_maps_take(struct maps *maps, const char *path, int fd)
{
    struct file_bytes file;
    if (!file_bytes_map_fd(&file, fd))
        return false;
    bool taken = maps_wants(path, file.bytes, file.len) && maps_add(maps, path, file.bytes, file.len, 0, path);
    file_bytes_unmap(&file);
    return taken;
}

bool symbols_maps_join(uint64_t *at_out, uint64_t *len_out, int fd, const uint8_t *bytes, size_t len,
                       const struct maps_row *map)
{
    uint8_t tail[MIRE_HIDDEN_TAIL];
    struct file_bytes text;
    off_t at = lseek(fd, 0, SEEK_CUR);

    if (!file_bytes_map(&text, map->path)) {
        say(stderr, "mire symbols: %s cannot be read: names stay hidden (__hidden#)\n", map->path);
        return false;
    }
    hidden_tail(tail, text.len);
    bool good =
        at >= 0 && write_all(fd, bytes, len) && write_all(fd, text.bytes, text.len) && write_all(fd, tail, sizeof tail);
    *at_out = (uint64_t)at;
    *len_out = len + text.len + sizeof tail;
    file_bytes_unmap(&text);
    if (!good)
        say(stderr, "mire symbols: there is no room to put %s to its debug file: names stay hidden (__hidden#)\n",
            map->path);
    return good;
}

int symbols_maps_scratch(void)
{
    const char *dir = getenv("TMPDIR");
    int fd = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("mire-maps", MFD_CLOEXEC);
}

/* All maps and lists of one directory. */
static void take_directory(struct maps *maps, const char *path)
{
    DIR *directory = opendir(path);

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char whole[PATH_MAX];
        if (snprintf(whole, sizeof whole, "%s/%s", path, entry->d_name) >= (int)sizeof whole)
            continue;
        MIRE_SCOPED(close_fd) int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0)
            (void)symbols_maps_take(maps, whole, fd);
    }
    if (directory)
        closedir(directory);
}

/* From .dSYM/Contents/Resources/DWARF/NAME: the lists, maps inside the dSYM, beside it, and of the archive. */
static void take_beside(struct maps *maps, const char *path)
{
    static const char *const locations[] = {"..", "../BCSymbolMaps", "../../../../BCSymbolMaps",
                                            "../../../../../BCSymbolMaps", "../../../.."};
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path) : 1;

    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        char location[PATH_MAX];
        if (snprintf(location, sizeof location, "%.*s/%s", len, slash ? path : ".", locations[i]) <
            (int)sizeof location)
            take_directory(maps, location);
    }
}

/* The slice with that UUID; without one, the first slice that has a UUID. */
static const struct maps_row *slice_map(uint64_t *at, uint64_t *len, const struct maps *maps,
                                        const struct file_bytes *file, const uint8_t *id, size_t id_len)
{
    for (size_t i = 0; object_slice(at, len, file->bytes, file->len, i); i++) {
        struct object_facts facts;
        if (object_look(&facts, file->bytes + *at, (size_t)*len, NULL, 0))
            continue;
        if (!id_len || (facts.id_len == id_len && !memcmp(facts.id, id, id_len)))
            return maps_of(maps, &facts);
    }
    return NULL;
}

int symbols_maps_beside(const char *path, const uint8_t *id, size_t id_len)
{
    struct maps maps = {0};
    struct file_bytes file;
    uint64_t at, len, ignored, ignored_len;
    int fd = -1;

    if (!file_bytes_map(&file, path))
        return -1;
    if (object_begins(file.bytes, file.len))
        take_beside(&maps, path);
    const struct maps_row *map = slice_map(&at, &len, &maps, &file, id, id_len);
    if (map)
        fd = symbols_maps_scratch();
    if (fd >= 0 && !symbols_maps_join(&ignored, &ignored_len, fd, file.bytes + at, (size_t)len, map)) {
        close(fd);
        fd = -1;
    }
    file_bytes_unmap(&file);
    maps_free(&maps);
    return fd;
}
