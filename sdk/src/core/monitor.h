/*
 * monitor.h - one monitor: what it is started with, and what all of them may ask. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_H
#define MIRE_CORE_MONITOR_H

#include "capture/restraint.h"
#include "core/options.h"
#include "core/plan.h"
#include "core/worker.h"
#include "ring/blackbox.h"

/* What a monitor works with; all borrowed until its stop. */
struct monitor_context {
    const mire_options *options;
    struct blackbox *box;
    const struct store_box *file; /* that the box is mapped from */
    struct store *store;
    struct worker *worker;
    const struct plan *plan;
    bool exits;                 /* what is stopped is so because the process exits, or unloads the library */
    struct restraint restraint; /* check thread's */
    _Atomic uint32_t running;   /* bits by enum mire__plugin; whoever starts and stops writes, any thread reads */
};

struct monitor {
    enum mire__plugin plugin;
    enum mire_err (*start)(struct monitor_context *context); /* on the thread to watch */
    void (*stop)(void);
};

/* Does a plugin's monitor run? Thread: any. */
bool mire__monitor_runs(const struct monitor_context *context, enum mire__plugin plugin);

/* A report could not be kept: counted, and told by the worker. Thread: check thread, worker. */
void mire__monitor_unkept(struct monitor_context *context);

/* See that a lane has disk. Again does no harm. False: there is none to be had. Thread: any. */
bool mire__monitor_reserve(const struct monitor_context *context, uint32_t lane);

#endif
