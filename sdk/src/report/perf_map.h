/*
 * perf_map.h - names of code made at run time, from the file that virtual machines write for perf: /tmp/perf-PID.map,
 * or without that the other one (jitdump.h). Private to report/.
 *
 *     7f93180069c0 30c JS:*price /srv/app.js:2:15        address, bytes, name; of entries that overlap
 *                                                        the last one holds
 *
 * The file is another program's, and any length: it is read once, line by line, MIRE_PERF_MAP_BYTES of its end at most.
 */
#ifndef MIRE_REPORT_PERF_MAP_H
#define MIRE_REPORT_PERF_MAP_H

#include "base/base.h"

#define MIRE_PERF_MAP_BYTES (64ull << 20) /* some 100 ms; a large server's has 20 MiB */
#define MIRE_PERF_PCS_MAX   1024          /* of a hang's code made at run time */
#define MIRE_PERF_NAME_MAX  512

struct perf_name {
    uint64_t pc;
    uint64_t start; /* of the code that holds it; 0: nothing is known */
    uint64_t moved; /* jitdump.c: 1 + number of the code that was moved there; 0: none was */
    char *name;     /* NULL likewise */
};

/* The names of some addresses, by address. */
struct perf_map {
    int fd, dump; /* -1: there is none */
    uint64_t size_bytes;
    uint32_t count;
    struct perf_name *names;
};

/*
 * Open the map of a process, or its dump. False if there is none, or it was not written by this run of the process:
 * nothing is known then, and nothing need be asked. mire__perf_map_fini is due whatever it returns. folder "/tmp";
 * another in tests start_wall_ms  when the process began
 */
bool mire__perf_map_open(struct perf_map *map, const char *folder, uint32_t pid, uint64_t start_wall_ms);

/* Ask for an address. Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_FULL. */
enum mire_err mire__perf_map_ask(struct perf_map *map, uint64_t pc);

/* Read what is known of all that was asked for. */
void mire__perf_map_read(struct perf_map *map);

/* What is known of an address that was asked for; NULL: nothing. Borrowed from the map. */
const struct perf_name *mire__perf_map_find(const struct perf_map *map, uint64_t pc);

/* Name an address of the list anew; NULL: its name is not known. For jitdump.c. */
void mire__perf_name_set(struct perf_name *name, uint64_t start, const char *text);

void mire__perf_map_fini(struct perf_map *map);

#endif
