/*
 * monitor_hang.h - the monitor of hangs, of load and of frames: it runs capture/, and seals what that has seen. Private
 * to core/.
 */
#ifndef MIRE_CORE_MONITOR_HANG_H
#define MIRE_CORE_MONITOR_HANG_H

#include "core/monitor.h"

/*
 * The monitor's row. Returns as mire__watch_start, or why the waiting calls cannot be hooked.
 * Thread: the one to watch.
 */
enum mire_err mire__monitor_hang_start(struct monitor_context *context);
void mire__monitor_hang_stop(void);

#endif
