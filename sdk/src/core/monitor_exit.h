/*
 * monitor_exit.h - the evidence of this process's end, while it lives. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_EXIT_H
#define MIRE_CORE_MONITOR_EXIT_H

#include "core/monitor.h"

/*
 * The monitor's row. Without evidence, for want of disk, the app is watched all the same: always MIRE_OK. Stopped while
 * the app is watched on, it leaves no evidence: nobody will know how this run ends.
 */
enum mire_err mire__monitor_exit_start(struct monitor_context *context);
void mire__monitor_exit_stop(void);

/* The watch ends, by exit or mire_stop: noted before anything is stopped. */
void mire__monitor_exit_end(void);

/*
 * Look at the process, if it is time. Returns when to do so again even if nobody asks: CLOCK_MONOTONIC, UINT64_MAX:
 * not. Thread: worker.
 */
uint64_t mire__monitor_exit_look(void);

/* Kept over stop and start. Thread: any. Signal handler: yes. */
void mire__monitor_exit_as_set_ground(enum mire__ground ground);

#endif
