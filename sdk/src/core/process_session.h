/*
 * process_session.h - the session of this process: counted from its start, told when it is over and once a day. Private to
 * core/.
 *
 * Whether a record is made is known at the end, or when a part is told: the rollout document that says so may come
 * while the session goes on, or after it. So everything is counted wherever there is a blackbox.
 */
#ifndef MIRE_CORE_PROCESS_SESSION_H
#define MIRE_CORE_PROCESS_SESSION_H

#include "core/plan.h"
#include "ring/blackbox.h"

/* In a fresh blackbox, before the worker starts. Box and store are borrowed until mire__process_session_end. */
void mire__process_session_open(struct blackbox *box, struct store *store, const mire_options *options,
                                const struct plan *plan);

/* A newer plan; and the plugins that run and have done so since the start, bits. Thread: who holds BUSY. */
void mire__process_session_obey(const struct plan *plan);
void mire__process_session_note_plugins(uint32_t running);

/*
 * The watch ends. A part of mire-run's session adds its share to it; a session by itself is told, or waits for the
 * document that says whether it is.
 *   exits  with the process: then a session by itself is left in its box, for whoever finds that. No heap is used: at
 *          exit one large request has the allocator put together all that the program freed
 * False: the box has to stay: what it counted is not told yet. Thread: the worker's, or nobody else's.
 */
bool mire__process_session_end(bool exits);

/* Is the process a part of a session that is over? What such a process does is not the app's any more. Thread: any. */
bool mire__process_session_is_over(void);

/* It never was. Thread: the one that starts, after the worker has ended. */
void mire__process_session_forget(void);

/*
 * Keep what has to be known if the process is killed, and tell the part that is a day old. Returns when to be called
 * again at the latest: CLOCK_MONOTONIC, UINT64_MAX never. Thread: worker.
 */
uint64_t mire__process_session_look(void);

/* The same of the check thread. Thread: check thread. */
void mire__process_session_note_check(struct blackbox *box);

/* Kept over stop and start; the worker has to be told to look. Thread: any. Signal handler: yes. */
void mire__process_session_as_set_front(bool in_front);

#endif
