/*
 * monitor_exit.h - the monitor that records evidence of this process's end. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_EXIT_H
#define MIRE_CORE_MONITOR_EXIT_H

#include "core/monitor.h"

/*
 * The row in monitors.c. Always returns MIRE_OK: without disk for evidence, the other monitors still run. If it is
 * stopped while the app is watched, it deletes the evidence, and the end of this run will be unknown.
 */
enum mire_err mire__monitor_exit_start(struct monitor_context *context);
void mire__monitor_exit_stop(void);

/* Watching ends, by exit or mire_stop. Called before anything is stopped. */
void mire__monitor_exit_end(void);

/*
 * Look at the process, if it is due. Returns the time of the next look: CLOCK_MONOTONIC, UINT64_MAX: on wake-up only.
 * Thread: worker.
 */
uint64_t mire__monitor_exit_look(void);

/* Set foreground or background; survives stop and start. Thread: any. Signal handler: yes. */
void mire__monitor_exit_as_set_ground(enum mire__ground ground);

#endif
