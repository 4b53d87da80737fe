/*
 * run_session.h - mire-run's session, to which all processes of its program belong.
 *
 * The session ends with the program. A service that outlives the program has a separate session under the same name,
 * because its processes know only this name. See docs/sessions.md.
 */
#ifndef MIRE_PRELOAD_RUN_SESSION_H
#define MIRE_PRELOAD_RUN_SESSION_H

#include "report/report.h"
#include "report/session.h"

struct run_session {
    struct store *store;
    char name[MIRE_STORE_RUN_BYTES];
    struct blackbox_facts facts; /* facts that are known before a process is watched */
    uint64_t begin_ns;           /* of the current part */
    uint32_t part;
    uint32_t first_pid; /* the program, once it has started */
    uint64_t first_ticks;
};

/* Begin a session of this process. `facts` are copied. */
void run_session_begin(struct run_session *session, struct store *store, const struct blackbox_facts *facts);

/* Begin a new session under the same name, after run_session_end without any process. */
void run_session_again(struct run_session *session);

/* Continue a session in a forked copy of the process that began it. */
void run_session_take_over(struct run_session *session, struct store *store, const char *name,
                           const struct blackbox_facts *facts);

/* The program has started. */
void run_session_started(struct run_session *session, uint32_t pid, uint64_t start_ticks);

/* Make the record of a part that is a day old. */
void run_session_look(struct run_session *session);

/*
 * End the session, and make its record if the rollout document wants one.
 *   stays  process of a service that outlives the program, whose session begins now; 0: none
 * Returns as mire__session_finish. MIRE_E_STORE: a dead process must be recovered first.
 */
enum mire_err run_session_end(struct run_session *session, uint64_t end_ns, uint32_t stays);

#endif
