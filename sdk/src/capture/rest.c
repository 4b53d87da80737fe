/*
 * rest.c - a loop that sleeps in calls without a hook. See struct rest.
 */
#include "capture/lane.h"

#define LOOK_LEAST_NS (50 * MIRE_NS_PER_MS)
#define LOOK_FIRST_NS (200 * MIRE_NS_PER_MS)
#define LOOK_MOST_NS  (4 * MIRE_NS_PER_S)  /* one wake-up of an idle process */
#define GAP_NS        (5 * MIRE_NS_PER_MS) /* sleep of a working thread between two samples, such as a page fault */
#define GAP_PART      32                   /* or this part of the piece of work */
#define CHANCE_PPM    10000000u /* e^-10: the chance of meeting a loop that sleeps this much at work each time */
#define MAYBE_WORK_NS (100 * MIRE_NS_PER_MS)

void mire__rest_begin(struct lane_watch *lane)
{
    lane->rest = (struct rest){.rests = lane->rest.rests};
}

/* The end of the work that the previous sample met; at now_ns the thread waits. */
static uint64_t end_of_work(const struct lane_watch *lane, uint64_t now_ns, uint64_t awake_ns)
{
    const struct rest *rest = &lane->rest;
    uint64_t ran_ns;

    if (rest->seen_ns)
        return mire__min(rest->seen_ns + mire__minus(awake_ns, rest->awake_ns), now_ns);
    ran_ns = mire__minus(mire__thread_cpu_ns(lane->tid), lane->record.base.cpu_ns);
    return mire__min(lane->since_ns + ran_ns, now_ns);
}

/*
 * Has the thread left the processor by itself since the last call? If not, it has waited for one, and a wait that still
 * lasts is not in its awake time yet.
 */
static bool has_slept(struct rest *rest, uint32_t tid)
{
    struct thread_counters now;
    uint64_t before = rest->switches;

    mire__thread_counters(&now, tid);
    rest->switches = now.voluntary_switches;
    return now.voluntary_switches != before || before == 0;
}

/*
 * The thread runs at this sample. If it ran at the last one too and has slept in between, the place of that sleep is
 * unknown, and may be the loop's wait.
 */
static void note_running(struct rest *rest, uint32_t tid, uint64_t now_ns, uint64_t awake_ns)
{
    uint64_t slept_ns, sure_ns, gap_ns = mire__minus(now_ns, rest->seen_ns);

    if (!rest->ran_ns) {
        rest->ran_ns = now_ns;
        rest->ran_awake_ns = awake_ns;
        rest->slept_ns = rest->sure_ns = 0;
        has_slept(rest, tid);
        return;
    }
    slept_ns = mire__minus(now_ns - rest->ran_ns, mire__minus(awake_ns, rest->ran_awake_ns));
    sure_ns = mire__minus(mire__min(slept_ns, rest->slept_ns), rest->sure_ns);
    if (sure_ns > GAP_NS && sure_ns > gap_ns / GAP_PART && has_slept(rest, tid)) {
        rest->broken = true;
        rest->slept_ppm += mire__min(sure_ns, gap_ns) * 1000000u / (gap_ns + 1);
        rest->sure_ns += sure_ns;
        rest->piece_ns = 0;
    }
    rest->slept_ns = slept_ns;
}

/* A sample met the thread at work. */
static void note_piece(struct rest *rest, uint64_t now_ns)
{
    if (!rest->piece_ns)
        rest->piece_ns = now_ns;
    if (now_ns - rest->piece_ns > rest->longest_ns)
        rest->longest_ns = now_ns - rest->piece_ns;
}

void mire__rest_work(struct lane_watch *lane, const struct sample *sample, enum loop_sleep sleep)
{
    struct rest *rest = &lane->rest;
    uint64_t now_ns = mire__now_ns(), waited_ns = mire__thread_waited_ns(lane->tid);
    uint64_t awake_ns = mire__thread_cpu_ns(lane->tid) + waited_ns;
    bool maybe = sleep == LOOP_MAYBE || sleep == LOOP_ONCE;

    rest->suspect |= maybe;
    if (maybe && lane->loop.fresh) {
        rest->maybe_ns = end_of_work(lane, now_ns, awake_ns);
        rest->maybe_awake_ns = awake_ns;
    } else if (!maybe && mire__minus(awake_ns, rest->maybe_awake_ns) > MAYBE_WORK_NS) {
        rest->maybe_ns = 0;
    }
    if (sample->flags & MIRE_SAMPLE_BLOCKED)
        rest->ran_ns = 0;
    else
        note_running(rest, lane->tid, now_ns, awake_ns);
    if (maybe)
        rest->piece_ns = 0;
    else
        note_piece(rest, now_ns);
    rest->seen_ns = now_ns;
    rest->awake_ns = awake_ns;
    lane->waited_ns = waited_ns;
}

bool mire__rest_is_one_turn(const struct lane_watch *lane)
{
    if (lane->rest.longest_ns >= lane->record.event.threshold_ms * MIRE_NS_PER_MS)
        return true;
    return (!lane->rest.rests && !lane->rest.suspect) || !lane->rest.broken || lane->rest.slept_ppm >= CHANCE_PPM;
}

/* Vary the period: a loop that turns at the pace of the samples would be met at the same work each time. */
uint64_t mire__rest_period_ns(const struct lane_watch *lane, uint64_t period_ns)
{
    uint64_t chance = lane->rest.seen_ns * 0x9e3779b97f4a7c15u >> 48; /* below 65536 */

    if (!lane->rest.rests && !lane->rest.suspect)
        return period_ns;
    return period_ns - period_ns / 4 + period_ns / 2 / 65536 * chance;
}

static void pause_for(struct rest *rest, uint64_t pause_ns, uint64_t now_ns)
{
    rest->pause_ns = pause_ns;
    rest->look_ns = now_ns + pause_ns;
}

/* The first look comes after a share of the threshold, so that a hang is seen. */
static uint64_t first_pause_ns(const struct check *check, const struct lane_watch *lane)
{
    uint64_t share_ns = mire__lane_threshold_ms(check, lane) * MIRE_NS_PER_MS / 4;

    return share_ns < LOOK_LEAST_NS ? LOOK_LEAST_NS : mire__min(share_ns, LOOK_FIRST_NS);
}

/* The thread waits from now on. */
static void rest_now(struct check *check, struct lane_watch *lane, uint64_t now_ns)
{
    lane->rest = (struct rest){.rests = true,
                               .seen_ns = now_ns,
                               .awake_ns = mire__thread_awake_ns(lane->tid),
                               .cpu_ns = mire__thread_cpu_ns(lane->tid)};
    pause_for(&lane->rest, first_pause_ns(check, lane), now_ns);
}

void mire__rest_enter(struct check *check, struct lane_watch *lane, bool before)
{
    uint64_t now_ns = mire__now_ns();
    uint64_t end_ns = end_of_work(lane, now_ns, mire__thread_awake_ns(lane->tid));

    before = before && lane->rest.maybe_ns;
    if (before) {
        end_ns = lane->rest.maybe_ns;
        mire__ring_cut(&check->box->lanes[lane->record.lane].ring, end_ns);
    }
    lane->record.event.end_slack_ns = before ? 0 : mire__minus(now_ns, end_ns);
    mire__blackbox_count_micro(check->box, mire__minus(mire__minus(end_ns, lane->since_ns), lane->late_ns));
    if (lane->launch)
        mire__record_forget(check, &lane->record);
    else
        mire__lane_finish(check, lane, end_ns);
    atomic_store(lane->open_turn, 0);
    lane->launch = false;
    lane->state = LANE_RESTING;
    rest_now(check, lane, now_ns);
}

/* The thread has run since the last look: is it back in its wait? */
static bool waits_again(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    struct capture_cost cost = check->sampler->cost;
    bool asleep = mire__sampler_take_asleep(&check->scratch, check->sampler, lane->tid, check->box);
    enum loop_sleep sleep = LOOP_AWAKE;

    check->sampler->cost = cost;
    if (asleep)
        sleep = mire__loop_judge(&lane->loop, check, lane->record.lane, view, &check->scratch);
    return sleep == LOOP_WAITS || sleep == LOOP_WAITED || sleep == LOOP_UNSURE;
}

/*
 * The thread works. The begin follows from the time in which it ran or waited for a processor, if it has not slept, and
 * is not before the last look.
 */
static void work_again(struct lane_watch *lane, uint64_t now_ns, uint64_t cpu_ns)
{
    uint64_t looked_ns = lane->rest.seen_ns, ran_ns = mire__minus(cpu_ns, lane->rest.cpu_ns);
    uint64_t awake_ns = mire__minus(mire__thread_awake_ns(lane->tid), lane->rest.awake_ns);

    mire__rest_begin(lane);
    lane->since_ns = now_ns - mire__min(awake_ns, mire__minus(now_ns, looked_ns));
    lane->slack_ns = mire__minus(lane->since_ns, looked_ns);
    lane->late_ns = lane->excused_ns = lane->suspended_ns = 0;
    lane->state = LANE_BUSY;
    mire__thread_counters(&lane->record.base, lane->tid);
    lane->record.base.cpu_ns = mire__minus(lane->record.base.cpu_ns, ran_ns);
}

uint64_t mire__rest_step(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    struct rest *rest = &lane->rest;
    uint64_t now_ns = mire__now_ns(), cpu_ns = mire__thread_cpu_ns(lane->tid);

    if (cpu_ns == rest->cpu_ns) { /* the same sleep */
        rest->seen_ns = now_ns;
        if (now_ns >= rest->look_ns)
            pause_for(rest, mire__min(2 * rest->pause_ns, LOOK_MOST_NS), now_ns);
        return rest->look_ns;
    }
    if (waits_again(check, lane, view)) {
        check->turning = true;
        rest_now(check, lane, now_ns);
        return rest->look_ns;
    }
    work_again(lane, now_ns, cpu_ns);
    return now_ns;
}
