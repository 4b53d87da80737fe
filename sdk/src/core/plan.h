/*
 * plan.h - the plugins that are on in this process: by the app's options, and by the rollout document over them.
 *
 * The plan is made at the start. While the process runs, a newer document can switch plugins off and change parameters,
 * at once. A plugin that is off stays off until the next start, because only the thread to watch can start a watch.
 * Private to core/.
 */
#ifndef MIRE_CORE_PLAN_H
#define MIRE_CORE_PLAN_H

#include "core/options.h"
#include "rollout/rollout.h"
#include "store/store.h"

struct plan {
    struct rollout rollout; /* the document behind the plan */
    bool on[MIRE_PLUGINS];
    bool asked;                 /* there was a document */
    uint32_t ppm[MIRE_PLUGINS]; /* share of installations in which the plugin is on, in millionths */
};

/* Make a plan by a document, which may be empty (mire__rollout_init): then there are no session records. Pure. */
void mire__plan_make(struct plan *plan, const struct rollout *rollout, const mire_options *options,
                     const char *install);

/* Make a plan by the document in the store, or by the options if there is no valid one. */
void mire__plan_load(struct plan *plan, struct store *store, const mire_options *options, const char *install);

/* Apply the document's parameters, each within its bounds; unknown names are ignored. */
void mire__plan_numbers(struct capture_settings *settings, const struct rollout *rollout);

#endif
