/*
 * monitors.h - the table of monitors. Private to core/.
 */
#ifndef MIRE_CORE_MONITORS_H
#define MIRE_CORE_MONITORS_H

#include "core/monitor.h"

/* Start all monitors that the plan has on, or none. Returns MIRE_OK, or the error of the first failing start. */
enum mire_err mire__monitors_start(struct monitor_context *context);

/* Stop the running monitors that `plan` has off; NULL: all. Thread: as mire_stop. */
void mire__monitors_stop(struct monitor_context *context, const struct plan *plan);

/*
 * Obey a newer plan while monitors run: stop the monitors that it has off, and apply its parameters, the mode of the
 * memory monitor, and smaller sampling shares. Monitors that it newly has on stay off: see plan.h. Thread: as
 * mire_stop.
 */
void mire__monitors_obey(struct monitor_context *context, const struct plan *plan);

/* Stop everything that makes system calls on the program's threads; hangs are still found. Thread: the owner of the
 * state. */
void mire__monitors_hush(struct monitor_context *context);

/* Has the plan anything on that needs a blackbox? */
bool mire__monitors_any(const struct plan *plan);

#endif
