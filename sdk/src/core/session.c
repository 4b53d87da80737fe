/*
 * session.c - see session.h.
 */
#include "core/session.h"

#include "platform/platform.h"
#include "report/session.h"

#define PART_NS (24 * 3600 * MIRE_NS_PER_S) /* longer ones are told in parts, so that each day has its own */

static struct {
    _Atomic(struct blackbox *) box; /* NULL: there is no session; stored before the worker starts, or by it */
    struct store *store;
    uint64_t fronted_ns; /* `sum_ns` when the session began */
    /* Where the app is. Two threads that say different things at one instant may lose the moment between them. */
    _Atomic uint32_t front; /* enum mire__front */
    _Atomic uint64_t since_ns;
    _Atomic uint64_t sum_ns; /* in the foreground, of all times that have ended */
} now;

void mire__session_as_set_front(bool in_front)
{
    uint64_t now_ns = mire__now_ns(), since_ns = atomic_load(&now.since_ns);
    uint32_t before = atomic_load(&now.front);

    if (before == MIRE_FRONT_FORE && !in_front && now_ns > since_ns)
        atomic_fetch_add(&now.sum_ns, now_ns - since_ns);
    if (before != MIRE_FRONT_FORE && in_front)
        atomic_store(&now.since_ns, now_ns);
    atomic_store(&now.front, in_front ? MIRE_FRONT_FORE : MIRE_FRONT_BACK);
}

static void keep_front(struct session *session, uint64_t start_ns)
{
    uint64_t since_ns = atomic_load(&now.since_ns), sum_ns = atomic_load(&now.sum_ns);

    atomic_store(&session->fronted_ns, sum_ns > now.fronted_ns ? sum_ns - now.fronted_ns : 0);
    atomic_store(&session->front_ns, since_ns > start_ns ? since_ns : start_ns);
    atomic_store(&session->front, atomic_load(&now.front));
}

void mire__session_open(struct blackbox *box, struct store *store, const struct plan *plan)
{
    now.store = store;
    now.fronted_ns = atomic_load(&now.sum_ns);
    atomic_store(&box->session.on, plan->on[MIRE_PLUGIN_SESSION]);
    mire__session_begin(box, mire__now_ns(), mire__wall_now_ms());
    keep_front(&box->session, box->facts.start_mono_ns);
    atomic_store(&box->session.seen_ns, mire__now_ns());
    atomic_store(&now.box, box);
}

void mire__session_obey(const struct plan *plan)
{
    struct blackbox *box = atomic_load(&now.box);

    if (!box)
        return;
    atomic_store(&box->session.on, plan->on[MIRE_PLUGIN_SESSION]);
    atomic_store(&box->facts.sampling_ppm[MIRE_PLUGIN_SESSION], plan->ppm[MIRE_PLUGIN_SESSION]);
}

void mire__session_note_plugins(uint32_t running)
{
    struct blackbox *box = atomic_load(&now.box);

    if (box)
        atomic_store(&box->session.plugins, running | 1u << MIRE_PLUGIN_SESSION);
}

void mire__session_note_check(struct blackbox *box)
{
    atomic_store(&box->session.check_cpu_ns, mire__thread_cpu_ns(0));
    atomic_store(&box->session.seen_ns, mire__now_ns());
}

void mire__session_forget(void)
{
    atomic_store(&now.box, NULL);
}

void mire__session_close(void)
{
    struct blackbox *box = atomic_exchange(&now.box, NULL);

    if (!box)
        return;
    keep_front(&box->session, box->facts.start_mono_ns);
    mire__session_seal(now.store, box, mire__now_ns(), true, mire__wall_now_ms());
}

bool mire__session_leave(void)
{
    struct blackbox *box = atomic_exchange(&now.box, NULL);

    if (!box || atomic_load(&box->session.on) == 0)
        return false;
    keep_front(&box->session, box->facts.start_mono_ns);
    atomic_store(&box->session.seen_ns, mire__now_ns());
    return true;
}

uint64_t mire__session_look(void)
{
    struct blackbox *box = atomic_load(&now.box);
    uint64_t now_ns = mire__now_ns();

    if (!box)
        return UINT64_MAX;
    keep_front(&box->session, box->facts.start_mono_ns);
    atomic_store(&box->session.worker_cpu_ns, mire__thread_cpu_ns(0));
    atomic_store(&box->session.seen_ns, now_ns);
    if (now_ns - box->session.begin_ns >= PART_NS) {
        mire__session_seal(now.store, box, now_ns, false, mire__wall_now_ms());
        mire__session_begin(box, now_ns, mire__wall_now_ms());
    }
    return box->session.begin_ns + PART_NS;
}
