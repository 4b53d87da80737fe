/*
 * sealing.h - how ended events become reports in the store. Private to core/.
 *
 *     check thread: its lane --copy--> waiting lane --worker--> rate limiter, report, store; the lane is free again
 *
 * A disk may take seconds for a report. The check thread must see hangs meanwhile, so it does not wait for the disk: the
 * event waits in the blackbox, where it survives a kill like any other. If there is no free waiting lane, or no disk
 * for one, the check thread seals the event itself.
 */
#ifndef MIRE_CORE_SEALING_H
#define MIRE_CORE_SEALING_H

#include "core/monitor.h"

/* The lane's event has ended and is counted: hand it over to the worker. Thread: check thread. */
void mire__sealing_take(struct monitor_context *monitor, uint32_t lane);

/* Seal the events that wait. Blocks on the disk. Thread: worker; after the watch has ended, any. */
void mire__sealing_work(struct monitor_context *monitor);

/* Does no event wait? Thread: any. */
bool mire__sealing_settled(const struct monitor_context *monitor);

#endif
