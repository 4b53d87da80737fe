/*
 * confine.c - programs that give up rights while they are watched: a change of user, root or namespace, and seccomp
 * filters. See core.h.
 */
#include "core/core.h"
#include "core/state.h"

#include "capture/capture.h"
#include "exit/run.h"
#include "gate/gate.h"
#include "platform/apart.h"
#include "platform/filter.h"
#include "platform/platform.h"
#include "store/outbox.h"

/* Reserve disk space for all lanes: later the process may not be able to. */
static void reserve_lanes(void)
{
    for (uint32_t lane = 1; mire__core.options.threads_count > 0 && lane < MIRE_LANE_PROCESS; lane++)
        mire__monitor_reserve(&mire__core.monitors, lane);
    mire__monitor_reserve(&mire__core.monitors, MIRE_LANE_WAITING);
}

static void expect_change(void)
{
    mire__core.expects = mire__outbox_open(mire__core.store, mire__run_id()) == MIRE_OK;
    reserve_lanes();
}

void mire__core_expect_change(void)
{
    uint32_t state;

    if (mire__core.owner_pid != mire__pid() || mire__core.expects || !mire__core_enter(&state, MIRE_CORE_HELD))
        return;
    if (state == MIRE_CORE_ON) {
        mire__core_apart(expect_change);
        mire__watch_await_begun();
    }
    mire__core_leave(state);
}

bool mire__core_pause(void)
{
    uint32_t state;

    if (mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_BUSY))
        return false;
    if (!mire__core.works || mire__worker_is_self(&mire__core.worker)) {
        mire__core_leave(state);
        return false;
    }
    mire__core.paused_in = state;
    mire__core.works = false;
    mire__worker_stop(&mire__core.worker);
    mire__watch_pause();
    mire__thread_await_end(atomic_load(&mire__core.worker.tid));
    return true;
}

void mire__core_resume(void)
{
    mire__core.worker.recovers = false; /* recovered already */
    if (mire__watch_resume() == MIRE_OK) {
        mire__core.works = mire__worker_start(&mire__core.worker) == MIRE_OK;
        if (!mire__core.works)
            mire__watch_pause();
    }
    mire__core_leave(mire__core.paused_in);
}

bool mire__core_cannot_follow(void)
{
    uint32_t worker = mire__core.owner_pid == mire__pid() && mire__core.works ? atomic_load(&mire__core.worker.tid) : 0;

    return worker && !mire__thread_may_as_much(worker);
}

/* From here on no SDK code calls the kernel on the program's threads. The check thread is informed. */
static void fall_silent(bool returns)
{
    atomic_fetch_or(&mire__quiet, MIRE_QUIET_CALLS | (returns ? 0 : MIRE_QUIET_SIGNALS));
}

static bool is_ours_to_stop(uint32_t *state, uint32_t to)
{
    return mire__core.owner_pid == mire__pid() && mire__core_enter(state, to);
}

enum mire__confined mire__core_confine(bool everybody, bool returns)
{
    uint32_t state;

    if (everybody && is_ours_to_stop(&state, MIRE_CORE_HELD)) {
        mire__core_say("has confined all of its threads with seccomp: it is not watched any more; allow mire's system "
                       "calls in its "
                       "filter to watch it (docs/mire-run.md)");
        mire__core_leave(state);
        mire_stop(NULL);
        fall_silent(returns);
        return MIRE_CONFINED_STOPPED;
    }
    if (!everybody && is_ours_to_stop(&state, MIRE_CORE_HELD)) {
        mire__core_say(returns ? "has confined itself with seccomp: its memory is not recorded any more"
                               : "has confined itself with seccomp: its memory is not recorded any more, and hangs "
                                 "that compute have no stacks");
        mire__monitors_hush(&mire__core.monitors);
        fall_silent(returns);
        mire__apart_set_ours(true);
        mire__watch_wake(); /* from now on both threads poll */
        mire__worker_wake(&mire__core.worker, MIRE_WAKE_LOOK);
        mire__apart_set_ours(false);
        mire__core_leave(state);
        return MIRE_CONFINED_QUIET;
    }
    fall_silent(returns);
    return MIRE_CONFINED_UNWATCHED;
}

void mire__core_confine_again(void)
{
    uint64_t until_ns = mire__now_ns() + MIRE_NS_PER_S;

    if (!mire__core.works || mire__gate_in_child())
        return;
    mire__core.works = false;
    mire__watch_end_quietly(until_ns);
    mire__worker_end_quietly(&mire__core.worker, until_ns);
}

void mire__core_confine_undo(enum mire__confined how)
{
    atomic_store(&mire__quiet, 0);
    if (how == MIRE_CONFINED_QUIET)
        mire_stop(NULL);
    if (how != MIRE_CONFINED_UNWATCHED)
        mire__core_start_from_environment(false, 0);
}
