/*
 * remain.h - processes that the program leaves behind when it ends, such as the daemon that it has become.
 */
#ifndef MIRE_PRELOAD_REMAIN_H
#define MIRE_PRELOAD_REMAIN_H

#include "preload/point.h"

#include <stdbool.h>
#include <stddef.h>

#define MIRE_REMAIN_MAX 64
#define MIRE_REMAIN_S   60u /* how long a process has to show that it is the program's point */

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
 * The program has ended: find what it left and is to be served. A daemon in the making ends one process and begins the
 * next, so this waits until nothing changes for a moment; not at all if there is nothing.
 *
 *   store, session, path  as of points_open
 *
 * Returns whether there is something.
 */
bool remain_find(struct remain *remain, const struct store *store, const char *session, const char *path);

/* The process that a session of what stays begins with; 0: nothing stays. */
uint32_t remain_first(const struct remain *remain);

/*
 * Go on in the background: true in a new process, which has no terminal, input or output; false in the caller, also if
 * that fails. Thread: the only one.
 */
bool remain_in_background(void);

/* Wait until the last of them has ended, and after MIRE_REMAIN_S only for those that are the program's point. */
void remain_wait(struct remain *remain, const struct store *store);

#endif
