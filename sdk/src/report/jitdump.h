/*
 * jitdump.h - names of generated code, from the other file that virtual machines write for perf: jit-PID.dump.
 * Private to report/.
 *
 *     node --perf-prof            in the working directory
 *     CPython 3.13 -X perf_jit    /tmp
 *     LLVM, perf's JVM agent      ~/.debug/jit/...
 *
 * A process maps the file's first page executable, so that perf sees it. The path is read from the mappings of a living
 * process; for a dead one the file is looked up in /tmp. The file is untrusted and of any length: lengths are checked,
 * and at most MIRE_JITDUMP_RECORDS are read.
 *
 * Thread: the worker.  Signal handler: no.
 */
#ifndef MIRE_REPORT_JITDUMP_H
#define MIRE_REPORT_JITDUMP_H

#include "report/perf_map.h"

#define MIRE_JITDUMP_RECORDS 400000 /* about 200 ms */

/* Open the dump of a process; `folder` as in mire__perf_map_open. Returns a descriptor, -1: there is none. */
int mire__jitdump_open(const char *folder, uint32_t pid);

/* Set the names of the added addresses. */
void mire__jitdump_read(struct perf_map *map, int fd);

#endif
