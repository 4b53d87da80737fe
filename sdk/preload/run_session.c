/*
 * run_session.c - see run_session.h.
 */
#include "preload/run_session.h"

#include "platform/platform.h"

#include <string.h>

#define DAY_NS    (24 * 3600 * MIRE_NS_PER_S)
#define BEHIND_NS (60 * MIRE_NS_PER_S) /* processes add their counts once a day, each by its own clock */

static struct session_sum fresh(const struct run_session *session, uint64_t now_ns)
{
    struct session_sum sum;

    mire__session_new(&sum, &session->facts, now_ns, mire__wall_now_ms());
    sum.runner_pid = mire__pid();
    sum.runner_ticks = mire__process_start_ticks(sum.runner_pid);
    return sum;
}

static void open_session(struct run_session *session, struct store *store, const struct blackbox_facts *facts)
{
    session->store = store;
    session->facts = *facts;
    session->begin_ns = mire__now_ns();
    session->part = 0;
}

void run_session_begin(struct run_session *session, struct store *store, const struct blackbox_facts *facts)
{
    open_session(session, store, facts);
    mire__store_run_name(session->name);
    run_session_again(session);
}

void run_session_again(struct run_session *session)
{
    struct session_sum sum;

    session->begin_ns = mire__now_ns();
    sum = fresh(session, session->begin_ns);
    mire__store_session_save(session->store, session->name, &sum, sizeof(sum));
}

void run_session_take_over(struct run_session *session, struct store *store, const char *name,
                           const struct blackbox_facts *facts)
{
    const struct session_runner runner = {.runner_pid = mire__pid(),
                                          .runner_ticks = mire__process_start_ticks(mire__pid())};

    open_session(session, store, facts);
    mire__text_copy(session->name, sizeof(session->name), name);
    mire__session_keep(store, name, &runner);
}

void run_session_started(struct run_session *session, uint32_t pid, uint64_t start_ticks)
{
    session->first_pid = pid;
    session->first_ticks = start_ticks;
    mire__session_keep(session->store, session->name,
                       &(struct session_runner){.first_pid = pid, .first_ticks = start_ticks});
}

void run_session_look(struct run_session *session)
{
    uint64_t now_ns = mire__now_ns();
    struct session_sum next;

    if (now_ns - session->begin_ns < DAY_NS + BEHIND_NS)
        return;
    next = fresh(session, now_ns);
    next.part = session->part + 1;
    next.first_pid = session->first_pid;
    next.first_ticks = session->first_ticks;
    mire__session_finish(session->store, session->name, &next, now_ns, mire__wall_now_ms());
    session->begin_ns = now_ns;
    session->part++;
}

enum mire_err run_session_end(struct run_session *session, uint64_t end_ns, uint32_t stays)
{
    struct session_sum next;

    if (stays) {
        next = fresh(session, end_ns);
        next.service = 1;
        next.first_pid = stays;
        next.first_ticks = mire__process_start_ticks(stays);
    }
    return mire__session_finish(session->store, session->name, stays ? &next : NULL, end_ns, mire__wall_now_ms());
}
