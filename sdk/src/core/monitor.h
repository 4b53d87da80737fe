/*
 * monitor.h - the interface of a monitor, and the functions that all monitors share. Private to core/.
 */
#ifndef MIRE_CORE_MONITOR_H
#define MIRE_CORE_MONITOR_H

#include "capture/rate_limiter.h"
#include "core/options.h"
#include "core/plan.h"
#include "core/worker.h"
#include "ring/blackbox.h"

/* The context of a monitor; all borrowed until its stop. */
struct monitor_context {
    const mire_options *options;
    struct blackbox *box;
    const struct store_box *file; /* of the box */
    struct store *store;
    struct worker *worker;
    const struct plan *plan;
    bool exits;                  /* during a stop: the process exits, or unloads the library */
    _Atomic uint32_t seals;      /* 1: a thread seals an event */
    _Atomic uint32_t waiting;    /* events that wait to be sealed */
    struct rate_limiter limiter; /* its */
    _Atomic uint32_t running;    /* bits by enum mire__plugin; the owner of the state writes, any thread reads */
};

struct monitor {
    enum mire__plugin plugin;
    enum mire_err (*start)(struct monitor_context *context); /* on the thread to watch */
    void (*stop)(void);
};

/* Does a plugin's monitor run? Thread: any. */
bool mire__monitor_runs(const struct monitor_context *context, enum mire__plugin plugin);

/* A report could not be stored: count it, and have the worker log it. Thread: check thread, worker. */
void mire__monitor_unkept(struct monitor_context *context);

/* Reserve disk for a lane; no effect if it has some. False: there is none. Thread: any. */
bool mire__monitor_reserve(const struct monitor_context *context, uint32_t lane);

#endif
