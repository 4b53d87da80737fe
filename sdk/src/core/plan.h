/*
 * plan.h - which plugins are on in this process: what the app's options say, and the rollout document over it.
 *
 * Decided at the start. While the process runs a newer document can switch off, at once, and change numbers; what is
 * off stays off until the next start, because only the thread to watch can start a watch. Private to core/.
 */
#ifndef MIRE_CORE_PLAN_H
#define MIRE_CORE_PLAN_H

#include "core/options.h"
#include "rollout/rollout.h"
#include "store/store.h"

struct plan {
    struct rollout rollout; /* the document it was made by */
    bool on[MIRE_PLUGINS];
    bool asked;                 /* there was a document */
    uint32_t ppm[MIRE_PLUGINS]; /* share of installations that have it on; 0: none */
};

/* By a document, which may be none (mire__rollout_init): then sessions are not told, for nobody asked. Pure. */
void mire__plan_make(struct plan *plan, const struct rollout *rollout, const mire_options *options,
                     const char *install);

/* By the document in the store; without a good one there, by the options alone. */
void mire__plan_load(struct plan *plan, struct store *store, const mire_options *options, const char *install);

/* The document's numbers over these, each within its bounds; names that are not known are passed over. */
void mire__plan_numbers(struct capture_settings *settings, const struct rollout *rollout);

#endif
