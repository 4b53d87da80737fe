/*
 * exits.h - the evidence of this process's end, while it lives. Private to core/ and mire-run.
 */
#ifndef MIRE_CORE_EXITS_H
#define MIRE_CORE_EXITS_H

#include "core/monitors.h"
#include "exit/evidence.h"

/* What tells this run from those before: the texts, and the clocks of the facts. */
void mire__exits_facts(struct evidence_start *out, const struct blackbox_facts *facts);

/*
 * The monitor's row. Without evidence, for want of disk, the app is watched all the same: always MIRE_OK. Stopped while
 * the app is watched on, it leaves no evidence: nobody will know how this run ends.
 */
enum mire_err mire__exits_start(struct monitor_context *context);
void mire__exits_stop(void);

/* The watch ends, by exit or mire_stop: noted before anything is stopped. */
void mire__exits_end(void);

/*
 * Look at the process, if it is time. Returns when to do so again even if nobody asks: CLOCK_MONOTONIC, UINT64_MAX:
 * not. Thread: worker.
 */
uint64_t mire__exits_look(void);

/* Kept over stop and start. Thread: any. Signal handler: yes. */
void mire__exits_as_set_ground(enum mire__ground ground);

#endif
