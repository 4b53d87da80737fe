/*
 * monitors.h - the table of what is watched for. Private to core/.
 */
#ifndef MIRE_CORE_MONITORS_H
#define MIRE_CORE_MONITORS_H

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

/* A report could not be kept: counted, and told by the worker. Thread: check thread, worker. */
void mire__monitors_unkept(struct monitor_context *context);

/* See that a lane has disk. Again does no harm. False: there is none to be had. Thread: any. */
bool mire__monitors_reserve(const struct monitor_context *context, uint32_t lane);

/* Does a plugin's monitor run? Thread: any. */
bool mire__monitors_run(const struct monitor_context *context, enum mire__plugin plugin);

#endif
