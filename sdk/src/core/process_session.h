/*
 * process_session.h - the session of this process: its counts from the start, its record at the end, and one a day.
 * Private to core/.
 *
 * Sampling is decided at the end, or at the end of a part, because the rollout document may arrive during the session
 * or after it. So the counts are kept wherever there is a blackbox.
 */
#ifndef MIRE_CORE_PROCESS_SESSION_H
#define MIRE_CORE_PROCESS_SESSION_H

#include "core/plan.h"
#include "ring/blackbox.h"

/* Begin, in a fresh blackbox, before the worker starts. Box and store are borrowed until mire__process_session_end. */
void mire__process_session_open(struct blackbox *box, struct store *store, const mire_options *options,
                                const struct plan *plan);

/* Obey a newer plan; set the plugins that have run since the start, as bits. Thread: the owner of the state. */
void mire__process_session_obey(const struct plan *plan);
void mire__process_session_note_plugins(uint32_t running);

/*
 * Watching ends. A process of a mire-run session adds its counts to the session; otherwise the record is made, or waits
 * for a rollout document.
 *   exits  the process exits: the record is left in the box, for the next start. The heap is not used, because a large
 *          request at exit makes the allocator merge all blocks that the program has freed
 * False: the box must stay, because its counts are in no record yet. Thread: worker, or any after its end.
 */
bool mire__process_session_end(bool exits);

/* Is the process part of a mire-run session that has ended? Its events are then ignored. Thread: any. */
bool mire__process_session_is_over(void);

/* Discard the session of a failed start. Thread: the one that starts, after the worker has ended. */
void mire__process_session_forget(void);

/*
 * Update the counts in the blackbox, and make the record of a part that is a day old. Returns the time of the next
 * call: CLOCK_MONOTONIC, UINT64_MAX: none. Thread: worker.
 */
uint64_t mire__process_session_look(void);

/* Update the counts of the check thread. Thread: check thread. */
void mire__process_session_note_check(struct blackbox *box);

/*
 * Set foreground or background; survives stop and start. The caller wakes the worker. Thread: any. Signal handler: yes.
 */
void mire__process_session_as_set_front(bool in_front);

#endif
