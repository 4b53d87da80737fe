/*
 * monitors.h - the table of what is watched for. Private to core/.
 */
#ifndef MIRE_CORE_MONITORS_H
#define MIRE_CORE_MONITORS_H

#include "capture/restraint.h"
#include "core/options.h"
#include "core/worker.h"
#include "ring/blackbox.h"

/* What a monitor works with; all borrowed until its stop. */
struct monitor_context {
    const mire_options *options;
    struct blackbox *box;
    const struct store_box *file; /* that the box is mapped from */
    struct store *store;
    struct worker *worker;
    struct restraint restraint; /* check thread's */
};

struct monitor {
    const char *name;                                        /* as in the report's `sampling` */
    enum mire_err (*start)(struct monitor_context *context); /* on the thread to watch */
    void (*stop)(void);
};

/* All or none. Returns MIRE_OK or what the first failing start returned. */
enum mire_err mire__monitors_start(struct monitor_context *context);
void mire__monitors_stop(void);

#endif
