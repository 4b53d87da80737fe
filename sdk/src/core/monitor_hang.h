/*
 * monitor_hang.h - the monitor of hangs, load and frames: it runs capture/, and seals the events of capture/. Private
 * to core/.
 */
#ifndef MIRE_CORE_MONITOR_HANG_H
#define MIRE_CORE_MONITOR_HANG_H

#include "core/monitor.h"

/*
 * The row in monitors.c. Returns as mire__watch_start, or the error of hooking the waiting calls.
 * Thread: the one to watch.
 */
enum mire_err mire__monitor_hang_start(struct monitor_context *context);
void mire__monitor_hang_stop(void);

#endif
