/*
 * monitor_heap.h - the monitor of memory: a run's tables, from the file to the hooks. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_HEAP_H
#define MIRE_CORE_MONITOR_HEAP_H

#include "core/monitor.h"
#include "heap/heap.h"

/*
 * The row's start and stop. By the options, and what the rollout says over them. Off, or without room for the tables,
 * nothing is noted, and the start succeeds all the same: hangs are watched for without it.
 */
enum mire_err mire__monitor_heap_start(struct monitor_context *context);
void mire__monitor_heap_stop(void);

/* Another mode, as mire_memory_set. Thread: who owns the SDK's state, or the worker. */
enum mire_err mire__monitor_heap_set(enum mire_memory_mode mode, uint64_t interval_bytes);

/*
 * A newer plan: where its document says another mode or interval than the one before, that holds from now on, over what
 * the app has set since. What has no tables gets none. Thread: the worker, owning the SDK's state.
 */
void mire__monitor_heap_obey(const struct plan *plan);

/*
 * MIRE_BELL_KEEP rang, or the time has come: look after the tables, at most once a second. When something is noted
 * afterwards the bell rings again. Returns when to come: CLOCK_MONOTONIC, UINT64_MAX: when it rings. Thread: worker.
 */
uint64_t mire__monitor_heap_keep(struct worker *worker);

#endif
