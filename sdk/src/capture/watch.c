/*
 * watch.c - the check thread: its rounds, its begin and its end. See capture.h and check.h.
 *
 * The check thread owns `watch` while it runs; mire__watch_start and mire__watch_stop own it otherwise.
 */
#include "capture/capture.h"

#include "capture/demand.h"
#include "capture/lane.h"
#include "capture/live_settings.h"
#include "capture/process.h"
#include "gate/gate.h"
#include "platform/apart.h"
#include "platform/mine.h"
#include "platform/own.h"
#include "platform/quiet.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define CHECK_STACK_BYTES (512 * 1024)

struct watch {
    struct watch_options options;
    struct check check;
    struct sampler sampler;
    struct lane_watch lanes[MIRE_WATCHED_MAX];
    uint32_t known;      /* a bit for each lane that was ever used; others are zeros without pages */
    uint64_t ahead_ns;   /* boot-time clock minus monotonic clock: the time suspended */
    uint64_t turning_ns; /* last call of on_turning */
    uint32_t version;    /* of the settings in check */
    pthread_t thread;
};

enum asked_to { GO_ON, STOP, PAUSE };

/* The watch, for hooks and other threads. In a forked child pid is not the own pid: the copy is not valid there. */
static struct {
    struct watch *watch;  /* NULL when not watching */
    struct watch *memory; /* mapped once and never freed: a late signal's handler may read its sampler */
    uint32_t pid;
    _Atomic uint32_t wake;  /* futex word: raised by the gate, by a timer and by mire__watch_stop */
    _Atomic uint32_t stop;  /* enum asked_to; written by the thread that stops, pauses or resumes */
    _Atomic uint32_t begun; /* futex word: 1 once the check thread has begun */
    bool paused;            /* there is no check thread; writer as of `stop` */
    _Atomic uint64_t open_turns[MIRE_WATCHED_MAX]; /* see lane.h */
} global;

static const struct check_step *const monitors[] = {&mire__process_monitor};

static bool stopping(void)
{
    return atomic_load(&global.stop) != GO_ON;
}

/* ---- a round ---- */

static void mark(struct check *check)
{
    check->marked_ns = mire__now_ns();
}

/* False: the thread was interrupted between the two readings. */
static bool read_ahead(uint64_t *ahead_ns)
{
    uint64_t before_ns = mire__now_ns(), boot_ns = mire__boot_now_ns();

    if (mire__now_ns() - before_ns >= MIRE_NS_PER_MS / 2)
        return false;
    *ahead_ns = boot_ns - before_ns;
    return true;
}

static void look_for_suspend(struct watch *watch)
{
    uint64_t ahead_ns;

    watch->check.suspended_ns = 0;
    if (!read_ahead(&ahead_ns) || ahead_ns < watch->ahead_ns + MIRE_NS_PER_MS)
        return;
    watch->check.suspended_ns = ahead_ns - watch->ahead_ns;
    watch->ahead_ns = ahead_ns;
    mire__ticks_scale_init(&watch->check.scale);
}

static bool knows(struct watch *watch, uint32_t lane)
{
    struct gate_view view;

    if (watch->known >> lane & 1)
        return true;
    if (!mire__gate_look(&view, lane))
        return false;
    watch->known |= 1u << lane;
    mire__proc_keep(view.tid);
    watch->lanes[lane].record.lane = lane;
    watch->lanes[lane].open_turn = &global.open_turns[lane];
    return true;
}

/* Have idle lanes wake the check thread at their next turn. Returns false if one has begun a turn already. */
static bool park(struct watch *watch)
{
    uint32_t idle = 0, busy;

    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        const struct lane_watch *lane = &watch->lanes[i];

        if (watch->known >> i & 1 && lane->state == LANE_IDLE && !lane->parked && mire__now_ns() >= lane->park_ns)
            idle |= 1u << i;
    }
    if (idle == 0)
        return true;
    busy = mire__gate_park(idle);
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        if (!((idle & ~busy) >> i & 1))
            continue;
        watch->lanes[i].parked = true;
        watch->lanes[i].waited_ns = mire__thread_waited_ns(watch->lanes[i].tid);
    }
    return busy == 0;
}

static void say_turning(struct watch *watch)
{
    struct check *check = &watch->check;

    if (!check->turning || !watch->options.on_turning || check->now_ns - watch->turning_ns < MIRE_NS_PER_S)
        return;
    check->turning = false;
    watch->turning_ns = check->now_ns;
    watch->options.on_turning(watch->options.context);
}

/* Step everything. Returns the time of the next round. */
static uint64_t play_round(struct watch *watch)
{
    struct check *check = &watch->check;
    uint64_t next_ns = UINT64_MAX;

    check->sampled = 0;
    mire__live_settings_look(&watch->check, &watch->version);
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        uint64_t again_ns = knows(watch, i) ? mire__lane_step(check, &watch->lanes[i]) : UINT64_MAX;

        next_ns = again_ns < next_ns ? again_ns : next_ns;
    }
    for (size_t i = 0; i < MIRE_COUNT(monitors); i++) {
        uint64_t again_ns = monitors[i]->step(check);

        next_ns = again_ns < next_ns ? again_ns : next_ns;
    }
    say_turning(watch);
    return park(watch) && !check->gone ? next_ns : check->now_ns;
}

static void doze(struct check *check, uint64_t deadline_ns)
{
    uint64_t look_ns;

    while (!stopping() && atomic_exchange(&global.wake, 0) == 0 && mire__now_ns() < deadline_ns) {
        look_ns = mire__quiet_is() ? mire__now_ns() + MIRE_QUIET_LOOK_NS : UINT64_MAX; /* without wake-ups then */
        if (!mire__futex_wait(&global.wake, 0, look_ns < deadline_ns ? look_ns : deadline_ns))
            atomic_store(&global.stop, 1); /* a seccomp filter is on this thread: it would only spin */
        check->wakeups++;
    }
}

/*
 * Sleep until the deadline or a wake-up, and read the clocks. The lateness of a round is its late wake-up plus the
 * overrun of the round before: the process may be stopped at any point, also between two steps, and the samples are the
 * longest part of a round.
 */
static void sleep_until(struct watch *watch, uint64_t deadline_ns)
{
    struct check *check = &watch->check;
    uint64_t now_ns = mire__now_ns();
    uint64_t latest_ns = check->marked_ns + MIRE_ANSWER_NS * (check->sampled ? check->sampled : 1);
    uint64_t overrun_ns = now_ns > latest_ns ? now_ns - latest_ns : 0, woke_late_ns;

    mire__late_work(check, overrun_ns);
    doze(check, deadline_ns);
    check->due_ns = deadline_ns > now_ns ? deadline_ns : now_ns;
    mark(check);
    check->now_ns = check->marked_ns;
    woke_late_ns = mire__minus(check->now_ns, check->due_ns);
    mire__late_woke(check, woke_late_ns);
    check->late_ns = overrun_ns + woke_late_ns;
    if (check->late_ns < MIRE_LATE_NS)
        check->late_ns = 0;
    look_for_suspend(watch);
}

static void start_monitors(struct watch *watch)
{
    for (size_t i = 0; i < MIRE_COUNT(monitors); i++)
        monitors[i]->start(&watch->check);
}

static void stop_monitors(struct watch *watch)
{
    for (size_t i = MIRE_COUNT(monitors); i-- > 0;)
        monitors[i]->stop(&watch->check);
}

static void begin(struct watch *watch)
{
    struct check *check = &watch->check;

    mire__proc_keep(check->main_tid);
    check->tid = mire__tid();
    atomic_store(&global.begun, 1);
    mire__futex_wake(&global.begun);
    check->now_ns = check->due_ns = mire__now_ns();
    while (!read_ahead(&watch->ahead_ns))
        ;
    mire__late_begin(check);
    mark(check);
}

static void end(struct watch *watch)
{
    stop_monitors(watch);
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++)
        if (watch->known >> i & 1)
            mire__lane_stop(&watch->check, &watch->lanes[i]);
    if (watch->check.gone && watch->options.on_gone)
        watch->options.on_gone(watch->options.context);
}

static void *check_thread(void *argument)
{
    struct watch *watch = argument;

    mire__apart_begin();
    mire__thread_call_self("mire-check");
    mire__mine_thread_begin(CHECK_STACK_BYTES);
    begin(watch);
    while (!stopping() && !watch->check.gone)
        sleep_until(watch, play_round(watch));
    if (atomic_load(&global.stop) != PAUSE)
        end(watch);
    mire__mine_thread_end();
    return NULL;
}

/* ---- called by other threads ---- */

static enum mire_err start_thread(struct watch *watch)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int failed;

    if (pthread_attr_init(&attributes) != 0)
        return MIRE_E_MEMORY;
    pthread_attr_setstacksize(&attributes, CHECK_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited, so that no handler of the app runs on the check thread */
    mire__mine_thread_comes();
    failed = mire__own.pthread_create(&watch->thread, &attributes, check_thread, watch);
    if (failed)
        mire__mine_thread_fails();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        return MIRE_E_SYSTEM;
    return MIRE_OK;
}

static void prepare(struct watch *watch, const struct watch_options *options)
{
    mire__asking_reset(); /* a forked child has inherited its parent's */
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        if (watch->known >> i & 1) /* of a failed start */
            memset(&watch->lanes[i], 0, sizeof(watch->lanes[i]));
        atomic_store(&global.open_turns[i], 0);
    }
    watch->known = 0;
    watch->options = *options;
    watch->turning_ns = 0;
    mire__watch_apply(&options->settings);
    watch->check = (struct check){.options = &watch->options,
                                  .box = options->box,
                                  .sampler = &watch->sampler,
                                  .start_ns = mire__now_ns(),
                                  .main_tid = mire__tid(),
                                  .wake = &global.wake};
    mire__live_settings_look(&watch->check, &watch->version);
}

static void open_gate(struct watch *watch)
{
    const struct watch_options *options = &watch->options;
    const struct gate_options gate = {.wake = &global.wake,
                                      .left_ns = &options->box->left_ns,
                                      .left_how = options->left_how,
                                      .on_child = options->on_child,
                                      .context = options->context,
                                      .names = options->names,
                                      .names_count = options->names_count};

    mire__gate_open(&gate);
    mire__ticks_scale_init(&watch->check.scale);
    mire__gate_enter(options->begun_ns, NULL);
    mire__gate_as_ours_begin(); /* sleeps inside mire_start are no waits of a loop */
}

struct making {
    struct watch *watch;
    const struct watch_options *options;
    enum mire_err err;
};

/* All but the check thread. */
static void make(void *context)
{
    struct making *making = context;
    struct watch *watch = making->watch;

    prepare(watch, making->options);
    making->err = mire__sampler_open(&watch->sampler);
    if (making->err != MIRE_OK)
        return;
    atomic_store(&global.wake, 0);
    atomic_store(&global.stop, GO_ON);
    atomic_store(&global.begun, 0);
    global.paused = false;
    open_gate(watch);
    start_monitors(watch);
}

enum mire_err mire__watch_start(const struct watch_options *options)
{
    struct making making = {.options = options};
    struct watch *watch;
    enum mire_err err;

    if (global.watch && global.pid == mire__pid())
        return MIRE_E_STATE;
    watch = global.memory;
    if (!watch || global.pid != mire__pid())
        watch = mire__pages_map_inherited(sizeof(*watch), false);
    if (!watch)
        return MIRE_E_MEMORY;
    global.memory = watch;
    global.pid = mire__pid();
    making.watch = watch;
    mire__apart_run(make, &making);
    if (making.err != MIRE_OK)
        return making.err;
    err = start_thread(watch);
    if (err) {
        stop_monitors(watch);
        mire__gate_stop();
        mire__sampler_close(&watch->sampler);
        return err;
    }
    global.watch = watch;
    return MIRE_OK;
}

static void join(struct watch *watch, enum asked_to what)
{
    atomic_store(&global.stop, what);
    atomic_store(&global.wake, 1);
    mire__futex_wake(&global.wake);
    pthread_join(watch->thread, NULL);
}

void mire__watch_await_begun(void)
{
    uint64_t end_ns = mire__now_ns() + MIRE_NS_PER_S;

    while (global.watch && global.pid == mire__pid() && atomic_load(&global.begun) == 0 && mire__now_ns() < end_ns)
        mire__futex_wait(&global.begun, 0, end_ns);
}

void mire__watch_pause(void)
{
    if (!global.watch || global.pid != mire__pid() || global.paused)
        return;
    join(global.watch, PAUSE);
    mire__thread_await_end(global.watch->check.tid);
    global.paused = true;
}

enum mire_err mire__watch_resume(void)
{
    enum mire_err err;

    if (!global.watch || global.pid != mire__pid() || !global.paused)
        return MIRE_OK;
    atomic_store(&global.stop, GO_ON);
    err = start_thread(global.watch);
    global.paused = err != MIRE_OK;
    return err;
}

void mire__watch_stop(void)
{
    struct watch *watch = global.watch;

    if (!watch || global.pid != mire__pid())
        return;
    if (global.paused)
        end(watch);
    else
        join(watch, STOP);
    mire__asking_reset();
    mire__gate_stop();
    mire__sampler_close(&watch->sampler);
    global.watch = NULL;
    mire__pages_empty(watch, sizeof(*watch));
}

void mire__watch_end_quietly(uint64_t until_ns)
{
    if (!global.watch || mire__gate_in_child())
        return;
    atomic_store(&global.stop, 1);
    atomic_store(&global.wake, 1);
    while (!mire__own_has_joined(global.watch->thread) && mire__now_ns() < until_ns)
        ;
    global.watch = NULL;
}

void mire__watch_wake(void)
{
    atomic_store(&global.wake, 1);
    mire__futex_wake(&global.wake);
}

bool mire__watch_settled(void)
{
    struct gate_view view;

    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        uint64_t turn = atomic_load(&global.open_turns[i]);

        if (turn != 0 && (!mire__gate_look(&view, i) || view.turn != turn))
            return false;
    }
    return mire__demand_settled();
}
