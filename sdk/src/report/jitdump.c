/*
 * jitdump.c - reads the format of the kernel's tools/perf/Documentation/jitdump-specification.txt. Numbers are in the
 * byte order of the machine.
 *
 *     file     "JiTD" version header-size machine 0 pid time flags
 *     record   kind size time, and then
 *       load   pid tid 8 address bytes number "name\0" code
 *       move   pid tid 8 old-address address bytes number       of code that was loaded under that number
 */
#include "report/jitdump.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAGIC      0x4a695444u
#define MAPS_CHUNK (16u << 10)
#define PREFIX     16
#define LOAD_NAME  56

enum { LOAD = 0, MOVE = 1 };

struct dump_record {
    uint32_t kind, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t virtual_address;
    uint64_t numbers[4]; /* load: address, bytes, number; move: old address, address, bytes, number */
};

/* ---- Where the file is ---- */

/* The path in a line of /proc/PID/maps, if the line has this ending. */
static const char *path_of(const char *line, const char *ending)
{
    const char *path = strchr(line, '/');
    size_t length = path ? strlen(path) : 0, end = strlen(ending);

    return length > end && strcmp(path + length - end, ending) == 0 ? path : NULL;
}

static int open_dump(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* The file that the living process has mapped. */
static int open_mapped(uint32_t pid)
{
    char *text = mire__malloc(MAPS_CHUNK), name[64], ending[32];
    int found = -1, maps;
    size_t have = 0;
    ssize_t got;

    snprintf(name, sizeof(name), "/proc/%u/maps", pid);
    snprintf(ending, sizeof(ending), "/jit-%u.dump", pid);
    maps = text ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    while (maps >= 0 && found < 0 && (got = read(maps, text + have, MAPS_CHUNK - have)) > 0) {
        char *line = text, *end = text + have + (size_t)got, *stop;

        for (; found < 0 && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
            const char *path;

            *stop = '\0';
            path = path_of(line, ending);
            found = path ? open_dump(path) : -1;
        }
        have = (size_t)(end - line) < MAPS_CHUNK ? (size_t)(end - line) : 0; /* no line is longer */
        memmove(text, line, have);
    }
    if (maps >= 0)
        close(maps);
    mire__free(text);
    return found;
}

int mire__jitdump_open(const char *folder, uint32_t pid)
{
    int fd = open_mapped(pid);
    char path[128];

    if (fd < 0 && snprintf(path, sizeof(path), "%s/jit-%u.dump", folder, pid) < (int)sizeof(path))
        fd = open_dump(path);
    return fd;
}

/* ---- Its records ---- */

/* Call `take` for each load, with its name, and for each move. */
static void walk(int fd, struct perf_map *map,
                 void (*take)(struct perf_map *map, const struct dump_record *record, const char *name))
{
    struct {
        struct dump_record record;
        char rest[MIRE_PERF_NAME_MAX];
    } read;
    uint32_t head[10];
    uint64_t at;

    if (pread(fd, head, sizeof(head), 0) != sizeof(head) || head[0] != MAGIC)
        return;
    at = head[2];
    for (uint32_t i = 0; i < MIRE_JITDUMP_RECORDS; i++, at += read.record.size) {
        ssize_t got = pread(fd, &read, sizeof(read) - 1, (off_t)at);
        char *bytes = (char *)&read;

        if (got < PREFIX || read.record.size < PREFIX)
            return;
        bytes[got < (ssize_t)read.record.size ? got : (ssize_t)read.record.size] = '\0';
        if ((read.record.kind == LOAD && got > LOAD_NAME && read.record.size > LOAD_NAME) ||
            (read.record.kind == MOVE && got >= (ssize_t)sizeof(read.record) &&
             read.record.size >= sizeof(read.record)))
            take(map, &read.record, bytes + LOAD_NAME);
    }
}

static bool has(const struct perf_name *name, uint64_t start, uint64_t size)
{
    return name->pc >= start && name->pc - start < size;
}

/* The last record of an address counts. The name of moved code is in the load with the same number. */
static void take_last(struct perf_map *map, const struct dump_record *record, const char *name)
{
    bool moved = record->kind == MOVE;

    for (uint32_t i = 0; i < map->count; i++) {
        struct perf_name *one = &map->names[i];

        if (!has(one, record->numbers[moved], record->numbers[1 + moved]))
            continue;
        mire__perf_name_set(one, record->numbers[moved], moved ? NULL : name);
        one->moved = moved ? record->numbers[3] + 1 : 0;
    }
}

static void take_moved(struct perf_map *map, const struct dump_record *record, const char *name)
{
    for (uint32_t i = 0; i < map->count && record->kind == LOAD; i++)
        if (map->names[i].moved && map->names[i].moved == record->numbers[2] + 1)
            mire__perf_name_set(&map->names[i], map->names[i].start, name);
}

void mire__jitdump_read(struct perf_map *map, int fd)
{
    bool moved = false;

    walk(fd, map, take_last);
    for (uint32_t i = 0; i < map->count; i++)
        moved |= map->names[i].moved != 0;
    if (moved)
        walk(fd, map, take_moved);
}
