/*
 * memory_reports.h - reports of what the process holds while it lives: on demand, in trouble, and now and then in health
 * (due.h). Private to core/.
 */
#ifndef MIRE_CORE_MEMORY_REPORTS_H
#define MIRE_CORE_MEMORY_REPORTS_H

#include "core/monitor.h"

struct heap;

/* The tables are there from now on, or no more. Thread: who starts and stops; then no worker runs, or it is the worker. */
void mire__memory_reports_begin(struct monitor_context *context, struct heap *heap);
void mire__memory_reports_end(void);

/*
 * The process has been looked at, or a report was asked for: make what is due, of the tables as they are now. Takes as
 * long as reading them. Thread: worker.
 */
void mire__memory_reports_look(void);

/*
 * Have a report made by the worker.
 *   name  what the app calls it; NULL for nothing
 * Returns MIRE_OK, MIRE_E_STATE (there are no tables), MIRE_E_TIMEOUT (one is being made already). Thread: any.
 */
enum mire_err mire__memory_reports_ask(const char *name);

/* Is nothing that was asked for still to be made? Thread: any. */
bool mire__memory_reports_settled(void);

#endif
