/*
 * remain.h - processes that the program leaves behind when it ends, such as the daemon that it has become.
 */
#ifndef MIRE_PRELOAD_REMAIN_H
#define MIRE_PRELOAD_REMAIN_H

#include <stdbool.h>
#include <stddef.h>

#define MIRE_REMAIN_MAX 64

struct remain {
    int fds[MIRE_REMAIN_MAX]; /* one for each process (pidfd_open) */
    size_t count;
};

/* Before the program starts: its orphans become children of this process. */
void remain_prepare(void);

/*
 * The program has ended: find what it left. A daemon in the making ends one process and begins the next, so this waits
 * until nothing changes for a moment; not at all if there is nothing. Returns whether there is something.
 */
bool remain_find(struct remain *remain);

/*
 * Go on in the background: true in a new process, which has no terminal, input or output; false in the caller, also if
 * that fails. Thread: the only one.
 */
bool remain_in_background(void);

/* Wait until the last of them has ended. */
void remain_wait(struct remain *remain);

#endif
