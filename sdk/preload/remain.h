/*
 * remain.h - processes that the program leaves behind when it ends, such as the daemon that it has become.
 */
#ifndef MIRE_PRELOAD_REMAIN_H
#define MIRE_PRELOAD_REMAIN_H

#include "preload/point.h"

#include <stdbool.h>
#include <stddef.h>

#define MIRE_REMAIN_MAX 64
#define MIRE_REMAIN_S   60u /* time in which a process must turn out to be a service */

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

/* Before the program starts: its orphans become children of this process. */
void remain_prepare(void);

/*
 * After the end of the program, find its remaining processes that are to be served. A starting daemon ends one process
 * and begins the next, so this waits until nothing changes for a moment; it does not wait if there is none.
 *
 *   store, session, path  as of points_open
 *
 * Returns whether there is one.
 */
bool remain_find(struct remain *remain, const struct store *store, const char *session, const char *path);

/* The first process of the session of the remaining processes; 0: none remains. */
uint32_t remain_first(const struct remain *remain);

/*
 * Continue in the background: true in a new process, without terminal, input or output; false in the caller, also on
 * failure. Thread: the only one.
 */
bool remain_in_background(void);

/* Wait until the last of them has ended; after MIRE_REMAIN_S only for services. */
void remain_wait(struct remain *remain, const struct store *store);

#endif
