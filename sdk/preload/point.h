/*
 * point.h - which of the processes that a program leaves behind are the program's point, as a daemon is, and which it
 * only started, as a desktop's helpers.
 *
 *     it runs the same executable                                       a service
 *     another, and the program or a process of it waited for events    a stranger
 *     another, and none did, for the program was just a launcher        a service once it waits for events itself
 *
 * A process counts with all that it started.
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
    char files[POINT_FILES_MAX][PATH_MAX]; /* that the program consisted of */
    size_t loop_count;
    uint32_t loops[POINT_LOOPS_MAX]; /* pids */
};

/*
 * The program has ended, and its session is not told yet.
 *   path  of the executable that mire-run started
 */
void points_open(struct points *points, const struct store *store, const char *session, const char *path);

/* Look again who waits for events. */
void points_look(struct points *points, const struct store *store);

enum point points_judge(const struct points *points, uint32_t pid);

#endif
