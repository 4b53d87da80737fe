/*
 * monitors.h - the table of what is watched for. Private to core/.
 */
#ifndef MIRE_CORE_MONITORS_H
#define MIRE_CORE_MONITORS_H

#include "core/monitor.h"

/* All that the plan has on, or none. Returns MIRE_OK or what the first failing start returned. */
enum mire_err mire__monitors_start(struct monitor_context *context);

/* Stop those that run and that `plan` has off; NULL: all. Thread: as mire_stop. */
void mire__monitors_stop(struct monitor_context *context, const struct plan *plan);

/*
 * A newer plan, while monitors run: what it has off ends now, its numbers and the memory monitor's mode hold, and a
 * share that has become smaller is told from now on. What it has on and does not run stays off: see plan.h. Thread: as
 * mire_stop.
 */
void mire__monitors_obey(struct monitor_context *context, const struct plan *plan);

/* Whatever makes system calls on the program's threads ends; hangs are still seen. Thread: who holds the state. */
void mire__monitors_hush(struct monitor_context *context);

/* Has a plan anything on that needs a blackbox? */
bool mire__monitors_any(const struct plan *plan);

#endif
