/*
 * monitor_heap.h - the monitor of memory: it opens a run's tables and hooks the allocating calls. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_HEAP_H
#define MIRE_CORE_MONITOR_HEAP_H

#include "core/monitor.h"
#include "heap/heap.h"

/*
 * The row in monitors.c, by the options and the rollout over them. The start also succeeds if the mode is off, or if
 * there is no room for the tables: then memory is not recorded.
 */
enum mire_err mire__monitor_heap_start(struct monitor_context *context);
void mire__monitor_heap_stop(void);

/* Change the mode, as mire_memory_set. Thread: the owner of the SDK's state, or the worker. */
enum mire_err mire__monitor_heap_set(enum mire_memory_mode mode, uint64_t interval_bytes);

/*
 * Obey a newer plan: if its document has another mode or interval than the last one, apply it, over values that the app
 * has set since. Without tables it has no effect. Thread: the worker, owning the SDK's state.
 */
void mire__monitor_heap_obey(const struct plan *plan);

/*
 * Maintain the tables, at most once a second. The next recorded allocation wakes the worker with MIRE_WAKE_KEEP.
 * Returns the time of the next call: CLOCK_MONOTONIC, UINT64_MAX: on wake-up only. Thread: worker.
 */
uint64_t mire__monitor_heap_keep(struct worker *worker);

#endif
