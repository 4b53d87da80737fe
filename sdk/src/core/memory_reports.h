/*
 * memory_reports.h - memory reports of the living process: on demand, in trouble, and at intervals in health (due.h).
 * Private to core/.
 */
#ifndef MIRE_CORE_MEMORY_REPORTS_H
#define MIRE_CORE_MEMORY_REPORTS_H

#include "core/monitor.h"

struct heap;

/*
 * The tables are available from now on, or no longer. Thread: the owner of the state while no worker runs, or the
 * worker.
 */
void mire__memory_reports_begin(struct monitor_context *context, struct heap *heap);
void mire__memory_reports_end(void);

/*
 * After a look at the process, or a request: make the report or snapshot that is due, from the current tables. Takes as
 * long as reading the tables. Thread: worker.
 */
void mire__memory_reports_look(void);

/*
 * Request a report from the worker.
 *   name  the report's name; NULL: none
 * Returns MIRE_OK, MIRE_E_STATE (no tables), MIRE_E_TIMEOUT (a report is being made). Thread: any.
 */
enum mire_err mire__memory_reports_ask(const char *name);

/* Are all requested reports made? Thread: any. */
bool mire__memory_reports_settled(void);

#endif
