/* perf_map.c - see perf_map.h. */
#include "report/perf_map.h"

#include "base/alloc.h"
#include "platform/file.h"
#include "platform/own.h"
#include "report/jitdump.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (64u << 10)
#define CLOCK_MS    2000 /* tolerance between a file's time and the start */
#define CODE_MAX    (1ull << 30)

enum mire_err mire__perf_map_ask(struct perf_map *map, uint64_t pc)
{
    if (!map->names)
        map->names = mire__calloc(MIRE_PERF_PCS_MAX, sizeof(*map->names));
    if (!map->names)
        return MIRE_E_MEMORY;
    for (uint32_t i = map->count; i-- > 0;)
        if (map->names[i].pc == pc)
            return MIRE_OK;
    if (map->count == MIRE_PERF_PCS_MAX)
        return MIRE_E_FULL;
    map->names[map->count++].pc = pc;
    return MIRE_OK;
}

static int by_pc(const void *one, const void *other)
{
    uint64_t a = ((const struct perf_name *)one)->pc, b = ((const struct perf_name *)other)->pc;

    return (a > b) - (a < b);
}

/* The first address that is not below. */
static uint32_t first_from(const struct perf_map *map, uint64_t pc)
{
    uint32_t low = 0, high = map->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (map->names[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A hexadecimal number with or without 0x; behind it. NULL: there is none. */
static const char *read_hex(uint64_t *out, const char *at)
{
    const char *begin;

    while (*at == ' ')
        at++;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    *out = 0;
    for (begin = at;; at++) {
        char c = *at, lower = (char)(c | 0x20);
        uint64_t digit;

        if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            digit = (uint64_t)(lower - 'a' + 10);
        else
            return at > begin && at - begin <= 16 ? at : NULL;
        *out = *out << 4 | digit;
    }
}

void mire__perf_name_set(struct perf_name *name, uint64_t start, const char *text)
{
    size_t size = text ? strnlen(text, MIRE_PERF_NAME_MAX - 1) : 0;
    char *copy = text ? mire__malloc(size + 1) : NULL;

    if (text && !copy)
        return;
    mire__free(name->name);
    name->name = copy;
    name->start = start;
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
}

/* A line without its end. Earlier names of the address are outdated. */
static void read_line(struct perf_map *map, const char *line)
{
    uint64_t start, size;
    const char *at = read_hex(&start, line);

    at = at ? read_hex(&size, at) : NULL;
    if (!at || *at != ' ' || size > CODE_MAX || start + size < start)
        return;
    while (*at == ' ')
        at++;
    for (uint32_t i = first_from(map, start); *at && i < map->count && map->names[i].pc < start + size; i++)
        mire__perf_name_set(&map->names[i], start, at);
}

/* Whole lines of the buffer; the rest moves to its beginning. Returns the bytes of that. */
static size_t read_lines(struct perf_map *map, char *buffer, size_t size, bool *skip)
{
    char *line = buffer, *end = buffer + size, *stop;

    while ((stop = memchr(line, '\n', (size_t)(end - line)))) {
        *stop = '\0';
        if (!*skip)
            read_line(map, line);
        *skip = false;
        line = stop + 1;
    }
    if (line == buffer && size == CHUNK_BYTES) { /* longer than any name */
        *skip = true;
        return 0;
    }
    memmove(buffer, line, (size_t)(end - line));
    return (size_t)(end - line);
}

/* The file if it is of this run of the process; -1 and closed if it is not. */
static int keep_if_of_run(uint64_t *size_out, int fd, uint64_t start_wall_ms)
{
    struct stat status;
    uint64_t written_ms;

    if (fd >= 0 && fstat(fd, &status) == 0) {
        written_ms = mire__file_changed_ns(&status) / MIRE_NS_PER_MS;
        *size_out = (uint64_t)status.st_size;
        if (S_ISREG(status.st_mode) && (status.st_uid == geteuid() || geteuid() == 0) &&
            written_ms + CLOCK_MS >= start_wall_ms)
            return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

bool mire__perf_map_open(struct perf_map *map, const char *folder, uint32_t pid, uint64_t start_wall_ms)
{
    uint64_t dump_bytes;
    char path[128];

    *map = (struct perf_map){.fd = -1, .dump = -1};
    if (snprintf(path, sizeof(path), "%s/perf-%u.map", folder, pid) >= (int)sizeof(path))
        return false;
    map->fd =
        keep_if_of_run(&map->size_bytes, open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), start_wall_ms);
    if (map->fd < 0)
        map->dump = keep_if_of_run(&dump_bytes, mire__jitdump_open(folder, pid), start_wall_ms);
    return map->fd >= 0 || map->dump >= 0;
}

void mire__perf_map_read(struct perf_map *map)
{
    char *buffer = map->count > 0 ? mire__malloc(CHUNK_BYTES) : NULL;
    bool skip = map->size_bytes > MIRE_PERF_MAP_BYTES; /* begins within a line */
    size_t have = 0;
    ssize_t got;

    if (!buffer)
        return;
    mire__own.qsort(map->names, map->count, sizeof(*map->names), by_pc);
    if (map->dump >= 0)
        mire__jitdump_read(map, map->dump);
    if (skip)
        lseek(map->fd, (off_t)(map->size_bytes - MIRE_PERF_MAP_BYTES), SEEK_SET);
    for (uint64_t left = MIRE_PERF_MAP_BYTES;
         map->fd >= 0 && left >= CHUNK_BYTES && (got = read(map->fd, buffer + have, CHUNK_BYTES - have)) > 0;
         left -= (uint64_t)got)
        have = read_lines(map, buffer, have + (size_t)got, &skip);
    mire__free(buffer);
}

const struct perf_name *mire__perf_map_find(const struct perf_map *map, uint64_t pc)
{
    for (uint32_t i = first_from(map, pc); i < map->count && map->names[i].pc == pc;)
        return map->names[i].name ? &map->names[i] : NULL;
    return NULL;
}

void mire__perf_map_fini(struct perf_map *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        mire__free(map->names[i].name);
    mire__free(map->names);
    if (map->fd >= 0)
        close(map->fd);
    if (map->dump >= 0)
        close(map->dump);
    *map = (struct perf_map){.fd = -1, .dump = -1};
}
