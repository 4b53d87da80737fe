/*
 * late.c - see late.h.
 */
#include "capture/late.h"

#include "capture/lane.h"
#include "platform/platform.h"

#define ROUND_NS     (500 * 1000)          /* a round in time takes less, and so does a wake-up by the gate */
#define KEPT_MIN_NS  (20 * MIRE_NS_PER_MS) /* less may be the step of a clock of CPU time, 10 ms on some systems */
#define DRIFT_MAX_NS (20 * MIRE_NS_PER_MS) /* less than MIRE_LATE_NS */

/* The time in which the check thread has run or waited for a processor since the last call. */
static uint64_t used_since(struct check *check)
{
    struct late *late = &check->late;
    uint64_t used_ns = mire__thread_awake_ns(check->tid), since_ns = mire__minus(used_ns, late->used_ns);

    late->used_ns = used_ns;
    late->drift_ns = 0;
    return since_ns;
}

/* The same for the last sleep; read once a round. */
static uint64_t used_asleep(struct check *check)
{
    struct late *late = &check->late;

    if (!late->read)
        late->asleep_used_ns = used_since(check);
    late->read = true;
    return late->asleep_used_ns;
}

void mire__late_begin(struct check *check)
{
    used_since(check);
}

void mire__late_work(struct check *check, uint64_t overrun_ns)
{
    struct late *late = &check->late;

    late->overrun_ns = overrun_ns;
    late->halted_ns = overrun_ns >= MIRE_LATE_NS ? mire__minus(overrun_ns, used_since(check)) : 0;
    late->drift_ns += overrun_ns >= MIRE_LATE_NS ? 0 : overrun_ns;
    late->read = false;
}

/* Rounds in time are read from time to time only: a reading is a file of /proc. */
void mire__late_woke(struct check *check, uint64_t late_ns)
{
    check->late.drift_ns += late_ns + ROUND_NS;
    if (check->late.drift_ns >= DRIFT_MAX_NS)
        used_asleep(check);
}

uint64_t mire__late_kept_ns(struct check *check, const struct lane_watch *lane, uint64_t since_ns, bool waking)
{
    uint64_t ran_ns = mire__minus(mire__thread_cpu_ns(lane->tid), lane->cpu_ns);
    uint64_t waited_ns = mire__minus(mire__thread_waited_ns(lane->tid), lane->waited_ns);
    uint64_t turn_ns = mire__minus(check->now_ns, since_ns);
    uint64_t all_ns = mire__min(mire__minus(check->now_ns, lane->stepped_ns), turn_ns);
    uint64_t late_ns = waking ? turn_ns : mire__minus(check->late_ns, check->late.overrun_ns);
    uint64_t stopped_ns = mire__minus(late_ns, used_asleep(check));

    if (ran_ns)
        stopped_ns += check->late.halted_ns;
    uint64_t kept_ns = mire__min(mire__minus(all_ns, ran_ns), stopped_ns + waited_ns);
    return kept_ns >= KEPT_MIN_NS ? kept_ns : 0;
}

/* Is the thread ready to run, and does not? */
static bool is_queued(uint32_t tid, uint64_t cpu_ns)
{
    struct thread_state state;

    mire__thread_state(&state, tid);
    return state.letter == 'R' && mire__thread_cpu_ns(tid) == cpu_ns;
}

void mire__late_owe(const struct check *check, struct lane_watch *lane, uint64_t cpu_ns)
{
    if (check->late_ns == 0 && lane->owed_ns == 0)
        return;
    lane->owed_ns = is_queued(lane->tid, cpu_ns) ? lane->owed_ns + check->late_ns : 0;
    lane->waited_ns = mire__thread_waited_ns(lane->tid);
}
