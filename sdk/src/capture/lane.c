/*
 * lane.c - see lane.h.
 */
#include "capture/lane.h"

#include "gate/gate.h"

#include <string.h>

/*
 * Interval of looks at a turning loop. The loop is not asked to wake the check thread, which would cost it a system
 * call per turn. Less than MIRE_MICRO_NS, so that a turn of that length is seen while it lasts. A loop that idles for
 * this time is parked.
 */
#define TURNING_LOOK_NS (200 * MIRE_NS_PER_MS)
#define KEEPING_NS      MIRE_NS_PER_MS       /* far longer than a thread takes to store the end of a turn */
#define NO_LOOP_LOOK_NS (10 * MIRE_NS_PER_S) /* interval of checks whether a thread without a loop still exists */

uint64_t mire__lane_threshold_ms(const struct check *check, const struct lane_watch *lane)
{
    if (lane->launch)
        return check->settings.launch_ms;
    return check->foreground == MIRE_GROUND_BACK ? check->settings.background_ms : check->settings.foreground_ms;
}

/* A low threshold, or early sampling, needs more frequent looks. */
static uint64_t turning_look_ns(const struct check *check)
{
    uint64_t least_ms = mire__min(check->settings.foreground_ms, check->settings.background_ms);
    uint64_t share_ns = least_ms * check->settings.sample_from_ppm;

    return share_ns < MIRE_LATE_NS ? MIRE_LATE_NS : mire__min(share_ns, TURNING_LOOK_NS);
}

/* ---- time ---- */

/*
 * The part of this round's lateness in the turn from since_ns to until_ns in which the thread was kept from running too.
 *   waking  the begin of that turn woke the check thread
 */
static uint64_t late_in(struct check *check, const struct lane_watch *lane, uint64_t since_ns, uint64_t until_ns,
                        bool waking)
{
    uint64_t late_ns = check->late_ns + lane->owed_ns;

    if (waking)
        late_ns = mire__minus(check->now_ns, since_ns) >= MIRE_LATE_NS ? mire__minus(check->now_ns, since_ns) : 0;
    late_ns = mire__min(late_ns, mire__minus(until_ns, since_ns));
    return late_ns ? mire__min(late_ns, mire__late_kept_ns(check, lane, since_ns, waking)) : 0;
}

static void excuse(struct lane_watch *lane, uint64_t late_ns, uint64_t suspended_ns)
{
    lane->late_ns += late_ns;
    lane->excused_ns += late_ns;
    lane->suspended_ns += suspended_ns;
    if (lane->state == LANE_OPEN) {
        lane->record.event.late_ns = lane->late_ns;
        lane->record.event.suspended_ns = lane->suspended_ns;
    }
}

/* After a suspend the counter is not reliable, and the turn counts as begun just now. */
static uint64_t begin_of(const struct check *check, const struct gate_view *view, uint64_t turn, uint64_t ticks)
{
    if (view->begun_turn == turn)
        return view->begun_ns;
    return check->suspended_ns ? check->now_ns : mire__ticks_to_ns(&check->scale, ticks);
}

/* ---- turns ---- */

/* A known end of a turn, or an idle thread, means a wait: the thread has a loop. */
static void note_loop(const struct check *check, const struct gate_view *view)
{
    if (view->ended_turn != 0 || (view->turn & 1) == 0)
        atomic_store_explicit(&check->box->session.loop, 1, memory_order_relaxed);
}

/*
 * The CPU time of the thread before the turn.
 *   launch  all CPU time of the thread belongs to the turn, as far as the turn is that long: the process may have run
 *           other programs before
 */
static void note_base(const struct check *check, struct lane_watch *lane, bool launch)
{
    uint64_t age_ns = mire__minus(check->now_ns, lane->since_ns);

    if (lane->unanswered)
        return; /* the open event is a ping's */
    if (launch) {
        memset(&lane->record.base, 0, sizeof(lane->record.base));
        mire__thread_name(lane->record.base.name, lane->tid);
        lane->record.base.cpu_ns = mire__minus(mire__thread_cpu_ns(lane->tid), age_ns);
    } else {
        mire__thread_counters(&lane->record.base, lane->tid);
    }
}

/* The turn is old enough to be sampled: open an event. */
static void open_record(struct check *check, struct lane_watch *lane, uint32_t gate)
{
    const char *name = mire__gate_name(lane->record.lane);
    struct event event = {.gate = gate,
                          .launch = lane->launch,
                          .foreground = (uint8_t)check->foreground,
                          .tid = lane->tid,
                          .threshold_ms = (uint32_t)mire__lane_threshold_ms(check, lane),
                          .begin_ns = lane->since_ns,
                          .late_ns = lane->late_ns,
                          .suspended_ns = lane->suspended_ns,
                          .slack_ns = lane->slack_ns};

    mire__text_copy(event.thread_name, sizeof(event.thread_name), name[0] ? name : lane->record.base.name);
    atomic_store(lane->open_turn, lane->turn);
    lane->state = LANE_OPEN;
    lane->sampled_ns = lane->due_ns = lane->excused_ns = 0;
    mire__record_open(check, &lane->record, &event);
}

void mire__lane_finish(struct check *check, struct lane_watch *lane, uint64_t end_ns)
{
    uint64_t length_ns = mire__minus(mire__minus(end_ns, lane->since_ns), lane->late_ns);

    if (!mire__rest_is_one_turn(lane)) {
        mire__record_forget(check, &lane->record);
        return;
    }
    if (length_ns >= lane->record.event.threshold_ms * MIRE_NS_PER_MS)
        mire__asking_reported(&lane->asking, end_ns);
    mire__record_close(check, &lane->record, end_ns, false);
}

/* The launch ends with the first wait of the thread that launched. */
static void note_launch(const struct check *check, const struct lane_watch *lane, uint64_t end_ns)
{
    _Atomic uint64_t *launch_ns = &check->box->session.launch_ns;
    uint64_t begun_ns = check->options->begun_ns;

    if (lane->launch && lane->tid == check->main_tid && begun_ns != 0 && end_ns > begun_ns &&
        atomic_load_explicit(launch_ns, memory_order_relaxed) == 0)
        atomic_store_explicit(launch_ns, end_ns - begun_ns, memory_order_relaxed);
}

/*
 * The turn of the last step has ended. If the check thread was not in time to sample it, a hang has no stacks, but is
 * reported. A LONG turn has ended for certain, even if its end is just being stored.
 */
static void end_turn(struct check *check, struct lane_watch *lane, const struct gate_view *view, bool waking)
{
    bool known = view->ended_turn == lane->turn;
    uint64_t end_ns = known && view->end_ns > lane->since_ns ? view->end_ns : mire__now_ns(), length_ns;

    if (lane->state == LANE_RESTING) {
        mire__gate_unwatch(lane->record.lane);
        lane->state = LANE_IDLE;
        return;
    }
    if (known)
        note_launch(check, lane, end_ns);
    excuse(lane, late_in(check, lane, lane->since_ns, end_ns, waking), 0);
    length_ns = mire__minus(end_ns - lane->since_ns, lane->late_ns);
    if ((lane->state == LANE_LONG || (known && lane->state == LANE_BUSY)) && !lane->unanswered &&
        length_ns >= mire__lane_threshold_ms(check, lane) * MIRE_NS_PER_MS)
        open_record(check, lane, lane->launch ? MIRE_GATE_NONE : view->kind);
    if (lane->state != LANE_NO_LOOP && (known || lane->state >= LANE_LONG))
        mire__blackbox_count_micro(check->box, length_ns);
    if (lane->state == LANE_OPEN)
        mire__lane_finish(check, lane, end_ns);
    mire__gate_unwatch(lane->record.lane);
    atomic_store(lane->open_turn, 0);
    lane->state = LANE_IDLE;
}

/* A turn began and ended since the last step: it woke the check thread, which did not get to run until now. */
static void catch_up(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    bool waking = lane->parked;

    lane->state = LANE_BUSY;
    lane->turn = view->ended_turn;
    lane->parked = false;
    lane->late_ns = lane->suspended_ns = lane->slack_ns = lane->owed_ns = 0;
    mire__rest_begin(lane);
    lane->since_ns = begin_of(check, view, view->ended_turn, view->ended_since_ticks);
    lane->launch = view->begun_turn == view->ended_turn;
    note_base(check, lane, lane->launch);
    end_turn(check, lane, view, waking);
}

static void begin_turn(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    bool waking = lane->parked;

    lane->turn = view->turn;
    lane->parked = false;
    lane->late_ns = lane->excused_ns = lane->suspended_ns = lane->slack_ns = lane->owed_ns = 0;
    mire__rest_begin(lane);
    if ((view->turn & 1) == 0)
        return;
    lane->state = LANE_BUSY;
    lane->since_ns = begin_of(check, view, view->turn, view->since_ticks);
    lane->launch = view->kind == MIRE_GATE_NONE;
    excuse(lane, late_in(check, lane, lane->since_ns, check->now_ns, waking), 0);
    lane->waited_ns = mire__thread_waited_ns(lane->tid);
    note_base(check, lane, view->begun_turn == view->turn);
    if (!waking)
        mire__gate_keep_end(lane->record.lane);
}

/* Classify the last sample; events of pings are not classified. */
static enum loop_sleep judge(struct check *check, struct lane_watch *lane, const struct gate_view *view,
                             const struct sample *sample)
{
    if (lane->unanswered)
        return LOOP_AWAKE;
    return mire__loop_judge(&lane->loop, check, lane->record.lane, view, sample);
}

/* Is the turn still the one that the sample was taken for? A sample of the next wait would count as the loop's rest. */
static bool goes_on(const struct lane_watch *lane, const struct gate_view *view)
{
    struct gate_view now;

    return lane->unanswered || (mire__gate_look(&now, lane->record.lane) && now.turn == view->turn);
}

uint64_t mire__lane_follow(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    uint64_t now_ns = mire__now_ns(), period_ns = mire__record_period_ns(check, &lane->record);

    if (now_ns >= lane->due_ns) {
        uint64_t gap_ns = mire__minus(lane->sampled_ns ? now_ns - lane->sampled_ns : period_ns, lane->excused_ns);
        struct sample *sample = mire__record_take(check, &lane->record, 0);
        enum loop_sleep sleep;

        if (!goes_on(lane, view))
            return now_ns;
        sleep = judge(check, lane, view, sample);
        if (sleep == LOOP_WAITS || sleep == LOOP_WAITED) {
            mire__rest_enter(check, lane, sleep == LOOP_WAITED);
            return lane->rest.look_ns;
        }
        lane->record.event.unsure_ns += sleep == LOOP_UNSURE || sleep == LOOP_ONCE ? gap_ns : 0;
        mire__rest_work(lane, sample, sleep);
        mire__record_put(check, &lane->record, gap_ns);
        mire__record_look_around(check, &lane->record);
        lane->sampled_ns = now_ns;
        lane->due_ns = now_ns + mire__rest_period_ns(lane, period_ns);
        lane->excused_ns = 0;
    }
    mire__record_keep(check, &lane->record);
    return mire__min(lane->due_ns, mire__now_ns() + MIRE_NS_PER_S);
}

/* A launch that never waits: a program without a loop. */
static void give_up_launch(struct check *check, struct lane_watch *lane)
{
    mire__record_forget(check, &lane->record);
    atomic_store(lane->open_turn, 0);
    lane->state = LANE_NO_LOOP;
}

/* The thread is no longer watched, or is gone. Its open event was last known to continue at until_ns. */
static void vacate(struct check *check, struct lane_watch *lane, uint64_t until_ns)
{
    if (lane->state == LANE_EMPTY)
        return;
    if (lane->state == LANE_OPEN || lane->unanswered)
        mire__record_close(check, &lane->record, until_ns, true);
    atomic_store(lane->open_turn, 0);
    lane->state = LANE_EMPTY;
    lane->parked = lane->unanswered = false;
}

/* The thread has left: the end of its last turn is known if the gate stored it. */
static void leave(struct check *check, struct lane_watch *lane)
{
    uint64_t until_ns = lane->record.event.last_seen_ns;
    struct gate_view view;

    if (lane->state > LANE_IDLE && mire__gate_look_last(&view, lane->record.lane, lane->turn)) {
        if (lane->state == LANE_OPEN && view.turn == lane->turn)
            until_ns = view.end_ns;
        else
            end_turn(check, lane, &view, false);
    }
    vacate(check, lane, until_ns);
}

/* Has the thread ended unnoticed? To the gate it is busy for ever. */
static bool is_gone(struct check *check, struct lane_watch *lane)
{
    if (!mire__thread_is_gone(lane->tid))
        return false;
    mire__gate_release(lane->record.lane);
    mire__asking_drop(lane->record.lane);
    check->gone |= lane->tid == check->main_tid;
    vacate(check, lane, lane->record.event.last_seen_ns);
    return true;
}

/* The turn continues. Returns the time of the next step. */
static uint64_t step_busy(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    uint64_t rested_ns = lane->state == LANE_RESTING ? mire__rest_step(check, lane, view) : 0;
    uint64_t since_ns = lane->since_ns + lane->late_ns;
    uint64_t open_ns =
        since_ns + mire__lane_threshold_ms(check, lane) * check->settings.sample_from_ppm; /* ms of 1e-6 are ns */
    uint64_t long_ns = mire__min(since_ns + MIRE_MICRO_NS, open_ns), now_ns = mire__now_ns();

    if (now_ns < long_ns && lane->state == LANE_BUSY)
        return long_ns;
    if (lane->state == LANE_RESTING)
        return now_ns < rested_ns || !is_gone(check, lane) ? rested_ns : UINT64_MAX;
    if (is_gone(check, lane))
        return UINT64_MAX;
    if (lane->state == LANE_BUSY) {
        lane->state = LANE_LONG;
        if (!mire__gate_watch_end(lane->record.lane, lane->turn))
            return now_ns; /* the turn has just ended */
    }
    if (lane->state == LANE_LONG && now_ns < open_ns)
        return open_ns;
    if (lane->unanswered)
        return UINT64_MAX; /* one event at a time */
    if (lane->state == LANE_LONG)
        open_record(check, lane, view->kind);
    if (lane->state == LANE_OPEN && lane->launch && now_ns - check->start_ns > MIRE_LAUNCH_NS)
        give_up_launch(check, lane);
    return lane->state == LANE_NO_LOOP ? now_ns + NO_LOOP_LOOK_NS : mire__lane_follow(check, lane, view);
}

/* A thread enters the lane. False: there is no disk for its events. */
static bool enter(struct check *check, struct lane_watch *lane, const struct gate_view *view)
{
    const struct watch_options *options = check->options;

    if (options->on_lane && !options->on_lane(options->context, lane->record.lane)) {
        mire__gate_dismiss(lane->record.lane);
        return false;
    }
    lane->state = LANE_IDLE;
    lane->tid = view->tid;
    lane->turn = 0;
    lane->owed_ns = 0;
    lane->stepped_ns = mire__now_ns();
    lane->cpu_ns = mire__thread_cpu_ns(lane->tid);
    lane->waited_ns = mire__thread_waited_ns(lane->tid);
    lane->rest.rests = false;
    mire__loop_begin(&lane->loop, check, lane->record.lane);
    return true;
}

/* The end of a thread's first turn is always stored. Is it being stored right now? Then wait for it. */
static bool is_keeping(const struct lane_watch *lane, const struct gate_view *view)
{
    return lane->turn == 0 && (view->turn & 1) == 0 && view->ended_turn == 0;
}

uint64_t mire__lane_step(struct check *check, struct lane_watch *lane)
{
    struct gate_view view;
    uint64_t again_ns = UINT64_MAX, stepped_ns, cpu_ns, late_ns;

    if (!mire__gate_look(&view, lane->record.lane)) {
        leave(check, lane);
        return UINT64_MAX;
    }
    note_loop(check, &view);
    if (lane->state == LANE_EMPTY || lane->tid != view.tid) {
        leave(check, lane);
        if (!enter(check, lane, &view))
            return UINT64_MAX;
    }
    if (is_keeping(lane, &view)) {
        lane->park_ns = UINT64_MAX; /* else the next turn of a parked lane would count as the wake-up */
        return is_gone(check, lane) ? UINT64_MAX : mire__now_ns() + KEEPING_NS;
    }
    stepped_ns = mire__now_ns();
    cpu_ns = mire__thread_cpu_ns(lane->tid);
    late_ns = check->late_ns ? late_in(check, lane, lane->stepped_ns, check->now_ns, false) : 0;
    if (lane->turn != view.turn) {
        check->turning |= lane->turn != 0;
        lane->park_ns = lane->turn != 0 ? check->now_ns + turning_look_ns(check) : 0;
        if (lane->state != LANE_IDLE)
            end_turn(check, lane, &view, false);
        if (view.ended_turn > lane->turn && view.ended_turn != view.turn)
            catch_up(check, lane, &view);
        begin_turn(check, lane, &view);
    } else if (lane->state != LANE_IDLE) {
        excuse(lane, late_in(check, lane, lane->since_ns, check->now_ns, false), check->suspended_ns);
    }
    if (lane->state == LANE_IDLE && (view.turn & 1) == 0)
        mire__loop_note(&lane->loop, check, lane->record.lane, &view);
    if (lane->state == LANE_IDLE && !lane->parked && mire__now_ns() < lane->park_ns)
        again_ns = lane->park_ns;
    if (lane->state != LANE_IDLE)
        again_ns = step_busy(check, lane, &view);
    if (lane->state != LANE_EMPTY)
        again_ns = mire__min(again_ns, mire__lane_ask(check, lane, &view, late_ns));
    mire__late_owe(check, lane, cpu_ns);
    lane->stepped_ns = stepped_ns;
    lane->cpu_ns = cpu_ns;
    return again_ns;
}

void mire__lane_stop(struct check *check, struct lane_watch *lane)
{
    uint64_t now_ns = mire__now_ns();
    struct gate_view view;

    if (mire__gate_look(&view, lane->record.lane))
        note_loop(check, &view);
    if (lane->state > LANE_IDLE && mire__gate_look(&view, lane->record.lane)) {
        bool young = lane->state == LANE_BUSY || lane->state == LANE_LONG;

        if (view.turn != lane->turn)
            end_turn(check, lane, &view, false);
        else
            excuse(lane, late_in(check, lane, lane->since_ns, now_ns, false), check->suspended_ns);
        if (view.turn == lane->turn && young && !lane->unanswered &&
            mire__minus(now_ns - lane->since_ns, lane->late_ns) >=
                mire__lane_threshold_ms(check, lane) * MIRE_NS_PER_MS)
            open_record(check, lane, view.kind); /* a hang that the check thread was too late to sample */
    }
    vacate(check, lane, check->gone ? lane->record.event.last_seen_ns : now_ns);
}
