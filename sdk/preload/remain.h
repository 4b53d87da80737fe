/*
 * remain.h - processes that outlive the program that mire-run started, such as a daemon.
 */
#ifndef MIRE_PRELOAD_REMAIN_H
#define MIRE_PRELOAD_REMAIN_H

#include "preload/point.h"

#include <stdbool.h>
#include <stddef.h>

#define MIRE_REMAIN_MAX 64
#define MIRE_REMAIN_S   60u /* a process that lives longer is a service */

struct remain_process {
    uint32_t pid;
    int fd; /* of pidfd_open */
    enum point point;
};

struct remain {
    struct points points;
    struct remain_process processes[MIRE_REMAIN_MAX];
    size_t count;
};

/* Make the program's orphans children of this process. Call it before the program starts. */
void remain_prepare(void);

/*
 * After the end of the program, find its remaining processes. A starting daemon ends one process and begins the next,
 * so the call waits until nothing changes for a moment; without a process it returns at once.
 *
 *   store, session, path  as of points_open
 *
 * Returns whether a process remains.
 */
bool remain_find(struct remain *remain, const struct store *store, const char *session, const char *path);

/* The first process of the session of the remaining processes; 0: none remains. */
uint32_t remain_first(const struct remain *remain);

/*
 * Continue in the background: true in a new process, without terminal, input or output; false in the caller, also on
 * failure. Thread: the only one.
 */
bool remain_in_background(void);

/* Wait until the last process has ended; after MIRE_REMAIN_S only for services. */
void remain_wait(struct remain *remain, const struct store *store);

#endif
