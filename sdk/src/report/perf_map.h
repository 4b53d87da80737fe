/*
 * perf_map.h - names of generated code, from the file that virtual machines write for perf: /tmp/perf-PID.map, or
 * without it from the other one (jitdump.h). Private to report/.
 *
 *     7f93180069c0 30c JS:*price /srv/app.js:2:15        address, bytes, name; of entries that overlap
 *                                                        the last one holds
 *
 * The file is untrusted and of any length: it is read once, line by line, at most its last MIRE_PERF_MAP_BYTES.
 */
#ifndef MIRE_REPORT_PERF_MAP_H
#define MIRE_REPORT_PERF_MAP_H

#include "base/base.h"

#define MIRE_PERF_MAP_BYTES (64ull << 20) /* some 100 ms; a large server's has 20 MiB */
#define MIRE_PERF_PCS_MAX   1024          /* addresses of generated code in one event */
#define MIRE_PERF_NAME_MAX  512

struct perf_name {
    uint64_t pc;
    uint64_t start; /* begin of the code that contains pc; 0: unknown */
    uint64_t moved; /* jitdump.c: 1 + number of the code that was moved there; 0: none */
    char *name;     /* NULL: unknown */
};

/* The names of some addresses, by address. */
struct perf_map {
    int fd, dump; /* -1: there is none */
    uint64_t size_bytes;
    uint32_t count;
    struct perf_name *names;
};

/*
 * Open the map of a process, or its dump. False if there is none, or if this run of the process has not written it.
 * Call mire__perf_map_fini after either result.
 *   folder         "/tmp"; another in tests
 *   start_wall_ms  when the process began
 */
bool mire__perf_map_open(struct perf_map *map, const char *folder, uint32_t pid, uint64_t start_wall_ms);

/* Add an address to look up. Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_FULL. */
enum mire_err mire__perf_map_ask(struct perf_map *map, uint64_t pc);

/* Read the names of all added addresses. */
void mire__perf_map_read(struct perf_map *map);

/* The name of an added address; NULL: unknown. Borrowed from the map. */
const struct perf_name *mire__perf_map_find(const struct perf_map *map, uint64_t pc);

/* Replace the name of an address in the list; NULL: unknown. For jitdump.c. */
void mire__perf_name_set(struct perf_name *name, uint64_t start, const char *text);

void mire__perf_map_fini(struct perf_map *map);

#endif
