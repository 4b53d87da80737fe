/*
 * process_session.c - see process_session.h.
 */
#include "core/process_session.h"

#include "base/alloc.h"
#include "capture/scene.h"
#include "platform/footprint.h"
#include "platform/platform.h"
#include "report/session.h"

#include <string.h>

#define PART_NS      (24 * 3600 * MIRE_NS_PER_S) /* a longer session is reported in parts, so that each day has its share */
#define FOOTPRINT_NS (5 * MIRE_NS_PER_S)         /* between two looks at the memory */

static struct {
    _Atomic(struct blackbox *) box; /* NULL: no session; stored before the worker starts, or by the worker */
    struct store *store;
    uint64_t fronted_ns;             /* `sum_ns` when the session began */
    uint64_t cpu_ns, drawn, dropped; /* of the process, when it began */
    _Atomic uint64_t footprint_ns;   /* CLOCK_MONOTONIC, the last look at the memory */
    /* Foreground or background. If two threads set different values at one instant, one may be lost. */
    _Atomic uint32_t front; /* enum mire__front */
    _Atomic uint64_t since_ns;
    _Atomic uint64_t sum_ns; /* in the foreground, without the current time */
} now;

void mire__process_session_as_set_front(bool in_front)
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

/* CPU time, frames and, if the last look is some seconds old, memory of the process. */
static void keep_use(struct session *session, bool ends)
{
    uint64_t drawn, dropped, now_ns = mire__now_ns();

    mire__scene_counts(&drawn, &dropped);
    atomic_store(&session->process_cpu_ns, mire__minus(mire__process_cpu_ns(), now.cpu_ns));
    atomic_store(&session->frames_drawn, mire__minus(drawn, now.drawn));
    atomic_store(&session->frames_dropped, mire__minus(dropped, now.dropped));
    if (ends || now_ns >= atomic_load(&now.footprint_ns) + FOOTPRINT_NS) {
        struct footprint footprint;

        atomic_store(&now.footprint_ns, now_ns);
        mire__footprint(&footprint);
        mire__session_peak(session, footprint.bytes);
        if (ends && session->part == 0) /* the kernel's mark is of the whole process; it counts pages of files, too */
            mire__session_peak(session, mire__minus(footprint.peak_rss_bytes, footprint.file_bytes));
    }
}

static enum mire__session_on on_by(const struct plan *plan)
{
    if (!plan->asked)
        return MIRE_SESSION_MAYBE;
    return plan->on[MIRE_PLUGIN_SESSION] ? MIRE_SESSION_YES : MIRE_SESSION_NO;
}

/* Under mire-run the process is a part of mire-run's session. */
static void join(struct session *session, const struct store *store, const mire_options *options)
{
    if (!options->session[0])
        return;
    mire__text_copy(session->of, sizeof(session->of), options->session);
    session->apart = options->store_others[0] && strcmp(options->store_dir, mire__store_dir(store)) != 0;
}

void mire__process_session_open(struct blackbox *box, struct store *store, const mire_options *options,
                                const struct plan *plan)
{
    now.store = store;
    now.fronted_ns = atomic_load(&now.sum_ns);
    now.cpu_ns = mire__process_cpu_ns();
    mire__scene_counts(&now.drawn, &now.dropped);
    atomic_store(&now.footprint_ns, 0);
    join(&box->session, store, options);
    atomic_store(&box->session.on, on_by(plan));
    mire__session_begin(box, mire__now_ns(), mire__wall_now_ms());
    keep_front(&box->session, box->facts.start_mono_ns);
    atomic_store(&box->session.seen_ns, mire__now_ns());
    atomic_store(&now.box, box);
}

void mire__process_session_obey(const struct plan *plan)
{
    struct blackbox *box = atomic_load(&now.box);

    if (!box)
        return;
    atomic_store(&box->session.on, on_by(plan));
    atomic_store(&box->facts.sampling_ppm[MIRE_PLUGIN_SESSION], plan->ppm[MIRE_PLUGIN_SESSION]);
}

void mire__process_session_note_plugins(uint32_t running)
{
    struct blackbox *box = atomic_load(&now.box);

    if (box)
        atomic_store(&box->session.plugins, running | 1u << MIRE_PLUGIN_SESSION);
}

void mire__process_session_note_check(struct blackbox *box)
{
    atomic_store(&box->session.check_cpu_ns, mire__thread_cpu_ns(0));
    keep_use(&box->session, false);
    atomic_store(&box->session.seen_ns, mire__now_ns());
}

void mire__process_session_forget(void)
{
    atomic_store(&now.box, NULL);
}

/* Returns true if the share is reported, or waits in the store. */
static bool count_share(struct session_sum *share, const struct session *session)
{
    char name[MIRE_STORE_RUN_BYTES];
    enum mire_err err;

    if (session->of[0]) {
        err = mire__session_fold(now.store, session->of, share, session->apart != 0);
        return err == MIRE_OK || err == MIRE_E_STATE;
    }
    mire__store_run_name(name);
    mire__session_settle(now.store, name, share, mire__wall_now_ms());
    return true;
}

/*
 * Report the session. The record is not on the stack, which at exit is the program's.
 *   over  the watch ends
 * Returns false if the share is still to be reported.
 */
static bool record(struct blackbox *box, uint64_t now_ns, bool over)
{
    struct session_sum *share = mire__malloc(sizeof(*share));
    bool recorded = false;

    if (share) {
        mire__session_of_box(share, box, now_ns, !over);
        share->over = over;
        recorded = count_share(share, &box->session);
    }
    mire__free(share);
    return recorded;
}

bool mire__process_session_end(bool exits)
{
    struct blackbox *box = atomic_exchange(&now.box, NULL);
    uint64_t now_ns = mire__now_ns();

    if (!box)
        return true;
    keep_front(&box->session, box->facts.start_mono_ns);
    keep_use(&box->session, true);
    atomic_store(&box->session.seen_ns, now_ns);
    if (exits && !box->session.of[0])
        return atomic_load(&box->session.on) == MIRE_SESSION_NO;
    return record(box, now_ns, true);
}

bool mire__process_session_is_over(void)
{
    struct blackbox *box = atomic_load(&now.box);

    return box && box->session.of[0] && !box->session.apart && mire__store_sessions_seen(now.store) &&
           !mire__session_goes_on(now.store, box->session.of);
}

uint64_t mire__process_session_look(void)
{
    struct blackbox *box = atomic_load(&now.box);
    uint64_t now_ns = mire__now_ns();

    if (!box)
        return UINT64_MAX;
    keep_front(&box->session, box->facts.start_mono_ns);
    atomic_store(&box->session.worker_cpu_ns, mire__thread_cpu_ns(0));
    keep_use(&box->session, now_ns - box->session.begin_ns >= PART_NS);
    atomic_store(&box->session.seen_ns, now_ns);
    if (now_ns - box->session.begin_ns >= PART_NS) {
        record(box, now_ns, false);
        mire__session_begin(box, now_ns, mire__wall_now_ms());
    }
    return box->session.begin_ns + PART_NS;
}
