/*
 * jitdump.h - names of code made at run time, from the other file that virtual machines write for perf: jit-PID.dump.
 * Private to report/.
 *
 *     node --perf-prof            in the working directory
 *     CPython 3.13 -X perf_jit    /tmp
 *     LLVM, perf's JVM agent      ~/.debug/jit/...
 *
 * A process maps the file's first page executable, so that perf sees it: of one that lives, the path is read from its
 * mappings; of one that is gone, the file is looked for in /tmp. The file is another program's, and any length: lengths
 * are checked, and MIRE_JITDUMP_RECORDS are read at most.
 *
 * Thread: the worker.  Signal handler: no.
 */
#ifndef MIRE_REPORT_JITDUMP_H
#define MIRE_REPORT_JITDUMP_H

#include "report/perf_map.h"

#define MIRE_JITDUMP_RECORDS 400000 /* some 200 ms */

/* Open the dump of a process; `folder` as in mire__perf_map_open. The descriptor; -1: there is none. */
int mire__jitdump_open(const char *folder, uint32_t pid);

/* Name the addresses that were asked for. */
void mire__jitdump_read(struct perf_map *map, int fd);

#endif
