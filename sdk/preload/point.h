/*
 * point.h - distinguishes services from strangers among the processes that a program leaves behind: a daemon from a desktop's
 * helpers.
 *
 *     the process runs the same executable                              a service
 *     another one, and the program or a process of it waited for events a stranger
 *     another one, and none did: the program was just a launcher        a service once it waits for events itself
 *
 * A process counts together with all processes that it started.
 */
#ifndef MIRE_PRELOAD_POINT_H
#define MIRE_PRELOAD_POINT_H

#include "report/session.h"

#include <limits.h>

enum point { POINT_STRANGER, POINT_UNKNOWN, POINT_SERVICE };

#define POINT_LOOPS_MAX 256 /* processes known to wait for events */
#define POINT_FILES_MAX 16  /* executables */

struct points {
    char session[MIRE_STORE_RUN_BYTES]; /* name */
    bool launcher;
    size_t file_count;
    char files[POINT_FILES_MAX][PATH_MAX]; /* executables of the program */
    size_t loop_count;
    uint32_t loops[POINT_LOOPS_MAX]; /* pids */
};

/*
 * Begin, after the end of the program, while its session has no record yet.
 *   path  of the executable that mire-run started
 */
void points_open(struct points *points, const struct store *store, const char *session, const char *path);

/* Update the processes that wait for events. */
void points_look(struct points *points, const struct store *store);

enum point points_judge(const struct points *points, uint32_t pid);

#endif
