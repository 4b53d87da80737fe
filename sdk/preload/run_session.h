/*
 * run_session.h - the session that mire-run keeps: all processes of the program it runs are parts of it.
 *
 * When the program ends, the session does. A service that it left behind goes on with a session of its own, under the
 * same name, for its processes know no other. See docs/sessions.md.
 */
#ifndef MIRE_PRELOAD_RUN_SESSION_H
#define MIRE_PRELOAD_RUN_SESSION_H

#include "report/report.h"
#include "report/session.h"

struct run_session {
    struct store *store;
    char name[MIRE_STORE_RUN_BYTES];
    struct blackbox_facts facts; /* what is known before a process is watched */
    uint64_t begin_ns;           /* of the part that goes on */
    uint32_t part;
    uint32_t first_pid; /* the program, once it has started */
    uint64_t first_ticks;
};

/* Begin one, kept by this process. `facts` are copied. */
void run_session_begin(struct run_session *session, struct store *store, const struct blackbox_facts *facts);

/* Under the same name, after run_session_end that no process came before. */
void run_session_again(struct run_session *session);

/* Go on with one in a copy of the process that began it. */
void run_session_take_over(struct run_session *session, struct store *store, const char *name,
                           const struct blackbox_facts *facts);

/* The program has started. */
void run_session_started(struct run_session *session, uint32_t pid, uint64_t start_ticks);

/* Tell a part that is a day old. */
void run_session_look(struct run_session *session);

/*
 * It is over: told, if the rollout document wants sessions.
 *   stays  process of a service that stays behind: its session begins now; 0: none
 * Returns as mire__session_finish. MIRE_E_STORE: what a dead process left is to be recovered first.
 */
enum mire_err run_session_end(struct run_session *session, uint64_t end_ns, uint32_t stays);

#endif
