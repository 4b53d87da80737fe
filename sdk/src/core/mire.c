/*
 * mire.c - the public calls, and the SDK's one global.
 *
 *     OFF --mire_start--> BUSY --> ON --mire_stop, exit--> BUSY --> OFF
 *                           '---- failed ----------------------------^
 *
 * In ON_IDLE the worker may run all the same, to ask for the rollout document. Whoever turns OFF or ON into BUSY owns
 * everything else in here until it leaves BUSY. HELD is the same for a moment, between ON and ON: it is waited for, and
 * no call may take it for "not started". A forked child owns nothing: its pid is not
 * `owner_pid`. It may start anew, and then leaks what it inherited: libcurl's locks, and those of the allocator, may be
 * held for ever.
 */
#include "core/core.h"

#include "base/alloc.h"
#include "capture/capture.h"
#include "core/departure.h"
#include "core/exits.h"
#include "core/facts.h"
#include "core/heap.h"
#include "core/memory.h"
#include "core/flush.h"
#include "core/monitors.h"
#include "core/options.h"
#include "core/place.h"
#include "core/plan.h"
#include "core/session.h"
#include "core/worker.h"
#include "exit/run.h"
#include "gate/gate.h"
#include "platform/apart.h"
#include "platform/filter.h"
#include "platform/platform.h"
#include "store/outbox.h"
#include "store/sending.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OFF,
    BUSY,
    HELD, /* started; who holds it goes back to ON or ON_IDLE, as soon as a monitor has stopped or a file is written */
    ON,
    ON_IDLE /* started, but watches nothing: sampled out, or switched off by the rollout */
};

#define FLUSH_MAX_MS 600000u

static struct {
    _Atomic uint32_t state; /* acquire on entry, release on exit of BUSY and HELD */
    uint32_t owner_pid;
    mire_options options;
    char install[33];
    struct plan plan;      /* of the start */
    uint64_t rollout_mark; /* of the document it was made by */
    struct store *store;
    struct store_box box;
    _Atomic uint32_t *end_mark; /* in the box: see mire__thread_mark_end; NULL: none */
    struct worker worker;
    bool works;         /* the worker's thread runs */
    bool expects;       /* what mire__core_expect_change prepares is there */
    uint32_t paused_in; /* the state to go back to */
    struct monitor_context monitors;
    _Atomic uint32_t network; /* enum mire_network; any thread writes, the worker reads; relaxed */
} mire;

static bool turn(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&mire.state, &from, to, memory_order_acquire, memory_order_relaxed);
}

/* OFF, BUSY, ON or ON_IDLE; HELD only in a forked child, where who held it does not run. */
static uint32_t settled_state(void)
{
    uint32_t state;

    while ((state = atomic_load_explicit(&mire.state, memory_order_acquire)) == HELD && mire.owner_pid == mire__pid())
        sched_yield();
    return state;
}

/* From ON or ON_IDLE, which it tells, into BUSY or HELD. False: it is not started, or somebody starts or stops it. */
static bool enter(uint32_t *from, uint32_t to)
{
    do {
        *from = settled_state();
        if (*from < ON)
            return false;
    } while (!turn(*from, to));
    return true;
}

static void leave(uint32_t to)
{
    atomic_store_explicit(&mire.state, to, memory_order_release);
}

/* Whoever is busy with `mire` has its files opened apart from the program's descriptors. */
static void call(void *work)
{
    (*(void (**)(void))work)();
}

static void apart(void (*work)(void))
{
    mire__apart_run(call, &work);
}

/* On the thread that seals. */
static bool move_store(void *context, struct store *store)
{
    (void)context;
    if (!mire__place_again(store, &mire.options))
        return false;
    mire__worker_ring(&mire.worker, MIRE_BELL_MOVED);
    return true;
}

static enum mire_err open_store(void)
{
    char dir[MIRE_STORE_PATH_MAX];
    enum mire_err err = mire__place_open(&mire.store, dir, &mire.options);

    if (err == MIRE_OK && mire__variant_moves())
        mire__store_on_lost(mire.store, move_store, NULL);
    return err == MIRE_OK ? mire__store_install(mire.install, mire.store) : err;
}

/*
 * Nobody writes into the blackbox any more. Where it has losses to tell, or `leaves`, whoever recovers it tells what is
 * in it.
 */
static void end_box(void *context)
{
    struct blackbox *box = mire.box.memory;
    bool leaves = *(bool *)context, waits;

    if (!box)
        return;
    waits = mire__store_save_drops(mire.store) != MIRE_OK;
    mire__store_wait_in(mire.store, NULL);
    if (!leaves && (waits || atomic_load(&box->losses.unkept) > 0)) {
        atomic_store(&box->session.on, MIRE_SESSION_TOLD);
        leaves = true;
    }
    if (leaves)
        mire__store_box_leave(&mire.box);
    else
        mire__store_box_close(&mire.box);
}

static void close_box(bool leaves)
{
    mire__apart_run(end_box, &leaves);
}

struct session_stop {
    bool exits, told;
};

static void end_session(void *context)
{
    struct session_stop *ending = context;

    ending->told = mire__session_end(ending->exits);
}

/* All but the worker. */
static void release(bool exits)
{
    struct session_stop ending = {.exits = exits};

    mire__exits_end();
    mire.monitors.exits = exits;
    mire__monitors_stop(&mire.monitors, NULL);
    mire__apart_run(end_session, &ending);
    mire__variant_send_close(mire.worker.sender);
    close_box(!ending.told);
    mire.works = false;
}

static void count(struct mire_counts *out)
{
    struct store_item *items = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    struct store_balance balance;

    mire__store_balance(&balance, mire.store);
    *out = (struct mire_counts){.sent = balance.sent,
                                .kept = items ? mire__store_list(items, MIRE_STORE_LIST_MAX, mire.store) : 0,
                                .dropped = balance.dropped};
    mire__free(items);
}

static void close_store(void)
{
    mire__store_close(mire.store);
}

static void turn_off(void)
{
    apart(close_store);
    mire.store = NULL;
    mire.expects = false;
    leave(OFF);
}

/* On the worker. False: somebody stops already, and will join it. */
static bool stop_on_worker(void)
{
    if (settled_state() != ON || !turn(ON, BUSY))
        return false;
    pthread_detach(mire.worker.thread);
    release(false);
    turn_off();
    return true;
}

/*
 * With disk for the first thread and the process; for others when they come. The page behind it is written to by nobody
 * but the kernel when the process dies. Without disk for that the box is as good, but for the time of its process's
 * end.
 */
static enum mire_err make_box(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mark_at = (sizeof(struct blackbox) + page - 1) / page * page;
    const size_t first = offsetof(struct blackbox, lanes[1]),
                 last = offsetof(struct blackbox, lanes[MIRE_LANE_PROCESS]);
    enum mire_err err =
        mire__store_box_open(&mire.box, mire.store, mire__run_id(), MIRE_STORE_BOX, mark_at + page, first);

    if (err == MIRE_OK)
        err = mire__store_box_reserve(&mire.box, last, sizeof(struct lane));
    mire.end_mark = NULL;
    if (err == MIRE_OK && mire__store_box_reserve(&mire.box, mark_at, page) == MIRE_OK)
        mire.end_mark = (_Atomic uint32_t *)((char *)mire.box.memory + mark_at);
    if (err != MIRE_OK)
        mire__store_box_close(&mire.box);
    return err;
}

static void open_box(void *err)
{
    *(enum mire_err *)err = make_box();
}

/* On the worker: another document is in the store. False: somebody has everything in its hands, so again later. */
static bool obey_rollout(void)
{
    struct plan plan;
    uint32_t then = ON;

    if (atomic_load(&mire.state) == ON_IDLE)
        return true;
    mire__plan_load(&plan, mire.store, &mire.options, mire.install);
    if (!turn(ON, HELD))
        return false;
    mire__monitors_obey(&mire.monitors, &plan);
    mire__session_obey(&plan);
    mire__session_note_plugins(mire.monitors.running);
    if (mire.monitors.running == 0 && !plan.on[MIRE_PLUGIN_SESSION]) {
        close_box(!mire__session_end(false));
        then = ON_IDLE;
    }
    leave(then);
    return true;
}

/* On the worker. */
static uint64_t look_at_process(void)
{
    uint64_t exits_ns = mire__exits_look(), session_ns = mire__session_look();

    mire__memory_look();
    return exits_ns < session_ns ? exits_ns : session_ns;
}

static enum mire_err start_worker(const struct blackbox_facts *facts)
{
    enum mire_err err;

    mire.worker = (struct worker){.store = mire.store,
                                  .log = mire.options.log,
                                  .log_context = mire.options.log_context,
                                  .clock = mire.options.clock,
                                  .clock_context = mire.options.clock_context,
                                  .on_gone = stop_on_worker,
                                  .on_rollout = obey_rollout,
                                  .on_look = look_at_process,
                                  .losses = mire.box.memory ? &((struct blackbox *)mire.box.memory)->losses : NULL,
                                  .recovers = mire__variant_recovers(&mire.options),
                                  .settles = !mire.options.session[0],
                                  .box = mire.box.memory,
                                  .end_mark = mire.box.memory ? mire.end_mark : NULL,
                                  .rollout_mark = mire.rollout_mark};
    mire__exits_facts(&mire.worker.next, facts);
    err = mire__variant_send_open(&mire.worker.sender, &mire.worker.remote, mire.store, &mire.options, facts);
    if (err == MIRE_OK)
        err = mire__worker_start(&mire.worker);
    if (err != MIRE_OK)
        mire__variant_send_close(mire.worker.sender);
    mire.works = err == MIRE_OK;
    return err;
}

static void stop_worker(void)
{
    mire__worker_stop(&mire.worker);
    mire__variant_send_close(mire.worker.sender);
    mire.works = false;
}

static enum mire_err start_watching(const struct blackbox_facts *facts)
{
    struct blackbox *box;
    enum mire_err err;

    mire__apart_run(open_box, &err);
    if (err != MIRE_OK)
        return err;
    box = mire.box.memory;
    mire__blackbox_lacks(box, 1, MIRE_LANE_PROCESS - 1);
    mire__blackbox_init(box, facts);
    for (int i = 0; i < MIRE_PLUGINS; i++)
        atomic_store(&box->facts.sampling_ppm[i], mire.plan.ppm[i]);
    mire__store_wait_in(mire.store, box->losses.waiting);
    mire__session_open(box, mire.store, &mire.options, &mire.plan);
    err = start_worker(facts);
    if (err != MIRE_OK)
        goto fail_box;
    mire.monitors = (struct monitor_context){.options = &mire.options,
                                             .box = box,
                                             .file = &mire.box,
                                             .store = mire.store,
                                             .worker = &mire.worker,
                                             .plan = &mire.plan};
    err = mire__monitors_start(&mire.monitors);
    if (err != MIRE_OK)
        goto fail_worker;
    mire__session_note_plugins(mire.monitors.running);
    return MIRE_OK;
fail_worker:
    stop_worker();
fail_box:
    mire__session_forget();
    close_box(false);
    return err;
}

/*
 * The check thread first: while the caller waits for the worker, which may have much to write, it hangs by our doing.
 * Then the worker: it may be hooking modules that a monitor's stop unhooks.
 */
static void stop_watching(bool exits)
{
    mire__watch_stop();
    if (mire.works)
        mire__worker_stop(&mire.worker);
    release(exits);
}

/* Which plugins are on, for this process. */
static void make_plan(void)
{
    mire.rollout_mark = mire__store_rollout_mark(mire.store);
    mire__plan_load(&mire.plan, mire.store, &mire.options, mire.install);
    if (mire__variant_takes_numbers())
        mire__plan_numbers(&mire.options.settings, &mire.plan.rollout);
}

/* counts_out: NULL for none. In a program that has confined itself nothing can be stopped: it all ends with the
 * process. */
static enum mire_err stop(bool exits, struct mire_counts *counts_out)
{
    uint32_t state;

    if (mire__quiet_is() || mire.owner_pid != mire__pid() || !enter(&state, BUSY))
        return MIRE_E_STATE;
    if (state == ON)
        stop_watching(exits);
    else if (mire.works)
        stop_worker();
    if (counts_out)
        count(counts_out);
    turn_off();
    return MIRE_OK;
}

static void depart(bool exits)
{
    stop(exits, NULL);
}

struct beginning {
    struct blackbox_facts facts;
    bool watches;
    enum mire_err err;
};

/* What a start reads. */
static void look_around(void *context)
{
    struct beginning *now = context;

    now->err = open_store();
    if (now->err != MIRE_OK)
        return;
    make_plan();
    now->watches = mire__monitors_any(&mire.plan);
    mire__facts_collect(&now->facts, &mire.options, mire.install);
}

static void say(void *words)
{
    char name[MIRE_THREAD_NAME_BYTES], text[MIRE_STORE_WORDS_BYTES];

    mire__thread_name(name, mire__pid());
    snprintf(text, sizeof(text), "process %u (%s) %s", mire__pid(), name, (const char *)words);
    mire__store_say(mire.store, text);
}

/* Called in BUSY, with the options in place; leaves it. */
static enum mire_err start(void)
{
    struct beginning now = {.watches = false};
    bool watches;
    enum mire_err err;

    mire__variant_begin();
    mire.owner_pid = mire__pid();
    mire__apart_run(look_around, &now);
    err = now.err;
    watches = now.watches;
    if (watches)
        err = start_watching(&now.facts);
    else if (err == MIRE_OK && mire.options.server_url[0])
        err = start_worker(&now.facts);
    if (err != MIRE_OK) {
        if (mire.store && err == MIRE_E_SYSTEM)
            mire__apart_run(say,
                            (void *)(uintptr_t) "is not watched: the system refused a thread, a signal or a mapping");
        turn_off();
        return err;
    }
    mire__gate_as_ours_end(true);
    mire__departure_hook(depart);
    leave(watches ? ON : ON_IDLE);
    return MIRE_OK;
}

enum mire_err mire_start(const mire_options *options)
{
    if (!options || !options->app_name[0] || !mire__options_server_is_safe(options))
        return MIRE_E_ARG;
    if (!turn(OFF, BUSY))
        return MIRE_E_STATE;
    mire.options = *options;
    mire.options.delivery.network = &mire.network;
    mire__alloc_use(&mire.options.allocator);
    return start();
}

enum mire_err mire__core_start_from_environment(bool launch)
{
    if (mire__quiet_is() || !turn(OFF, BUSY))
        return MIRE_E_STATE;
    mire__options_from_environment(&mire.options);
    mire.options.launch = launch ? MIRE_LAUNCH_SURE : MIRE_LAUNCH_NONE;
    if (!mire.options.app_name[0]) {
        leave(OFF);
        return MIRE_E_ARG;
    }
    return start();
}

/* Disk for the lanes that threads may come to later: nobody could ask for it any more. */
static void reserve_lanes(void)
{
    for (uint32_t lane = 1; mire.options.threads_count > 0 && lane < MIRE_LANE_PROCESS; lane++)
        mire__monitors_reserve(&mire.monitors, lane);
}

static void expect_change(void)
{
    mire.expects = mire__outbox_open(mire.store, mire__run_id()) == MIRE_OK;
    reserve_lanes();
}

void mire__core_expect_change(void)
{
    uint32_t state;

    if (mire.owner_pid != mire__pid() || mire.expects || !enter(&state, HELD))
        return;
    if (state == ON) {
        apart(expect_change);
        mire__watch_await_begun();
    }
    leave(state);
}

bool mire__core_pause(void)
{
    uint32_t state;

    if (mire.owner_pid != mire__pid() || !enter(&state, BUSY))
        return false;
    if (!mire.works || mire__worker_is_self(&mire.worker)) {
        leave(state);
        return false;
    }
    mire.paused_in = state;
    mire.works = false;
    mire__worker_stop(&mire.worker);
    mire__watch_pause();
    mire__thread_await_end(atomic_load(&mire.worker.tid));
    return true;
}

void mire__core_resume(void)
{
    mire.worker.recovers = false; /* it has */
    if (mire__watch_resume() == MIRE_OK) {
        mire.works = mire__worker_start(&mire.worker) == MIRE_OK;
        if (!mire.works)
            mire__watch_pause();
    }
    leave(mire.paused_in);
}

bool mire__core_cannot_follow(void)
{
    uint32_t worker = mire.owner_pid == mire__pid() && mire.works ? atomic_load(&mire.worker.tid) : 0;

    return worker && !mire__thread_may_as_much(worker);
}

/* Nothing of ours may call the kernel on the program's threads from here on; the check thread learns of it. */
static void fall_silent(bool returns)
{
    atomic_fetch_or(&mire__quiet, MIRE_QUIET_CALLS | (returns ? 0 : MIRE_QUIET_SIGNALS));
}

static bool is_ours_to_stop(uint32_t *state, uint32_t to)
{
    return mire.owner_pid == mire__pid() && enter(state, to);
}

enum mire__confined mire__core_confine(bool everybody, bool returns)
{
    uint32_t state;

    if (everybody && is_ours_to_stop(&state, HELD)) {
        mire__apart_run(
            say, (void *)(uintptr_t) "has confined all of its threads with seccomp: it is not watched from then on");
        leave(state);
        mire_stop(NULL);
        fall_silent(returns);
        return MIRE_CONFINED_STOPPED;
    }
    if (!everybody && is_ours_to_stop(&state, HELD)) {
        mire__apart_run(
            say, (void *)(uintptr_t)(returns ? "has confined itself with seccomp: its memory is not noted from then on"
                                             : "has confined itself with seccomp: its memory is not noted from then "
                                               "on, and hangs that compute have no stacks"));
        mire__monitors_hush(&mire.monitors);
        fall_silent(returns);
        mire__apart_set_ours(true);
        mire__watch_wake(); /* both look by themselves from now on */
        mire__worker_ring(&mire.worker, MIRE_BELL_LOOK);
        mire__apart_set_ours(false);
        leave(state);
        return MIRE_CONFINED_QUIET;
    }
    fall_silent(returns);
    return MIRE_CONFINED_UNWATCHED;
}

void mire__core_confine_again(void)
{
    uint64_t until_ns = mire__now_ns() + MIRE_NS_PER_S;

    if (!mire.works || mire__gate_in_child())
        return;
    mire.works = false;
    mire__watch_end_quietly(until_ns);
    mire__worker_end_quietly(&mire.worker, until_ns);
}

void mire__core_confine_undo(enum mire__confined how)
{
    atomic_store(&mire__quiet, 0);
    if (how == MIRE_CONFINED_QUIET)
        mire_stop(NULL);
    if (how != MIRE_CONFINED_UNWATCHED)
        mire__core_start_from_environment(false);
}

enum mire_err mire__core_restart_in_child(void)
{
    if (mire.owner_pid == mire__pid() || atomic_load_explicit(&mire.state, memory_order_relaxed) != ON)
        return MIRE_E_STATE;
    leave(BUSY);
    mire__memory_end(); /* the tables stayed with the parent: its worker would look into them before ours are there */
    mire.store = NULL;  /* not freed: mire__variant_begin */
    mire.expects = false;
    memset(&mire.box, 0, sizeof(mire.box));
    mire.options.launch = MIRE_LAUNCH_NONE;
    mire__watch_settings(&mire.options.settings);
    return start();
}

enum mire_err mire_memory_set(enum mire_memory_mode mode, uint32_t interval_bytes)
{
    uint32_t state;
    enum mire_err err = MIRE_E_STATE;

    if (mode < MIRE_MEMORY_OFF || mode > MIRE_MEMORY_EXACT ||
        (interval_bytes && (interval_bytes < MIRE_MEMORY_INTERVAL_MIN || interval_bytes > MIRE_MEMORY_INTERVAL_MAX)))
        return MIRE_E_RANGE;
    if (mire.owner_pid != mire__pid() || !enter(&state, HELD))
        return MIRE_E_STATE;
    if (state == ON)
        err = mire__heap_monitor_set(mode, interval_bytes);
    leave(state);
    return err;
}

enum mire_err mire_memory_report(const char *name)
{
    return mire__memory_ask(name);
}

enum mire_err mire_stop(struct mire_counts *counts_out)
{
    if (counts_out)
        *counts_out = (struct mire_counts){0};
    return stop(false, counts_out);
}

enum mire_err mire_set_consent(enum mire_consent consent)
{
    uint32_t state;
    enum mire_err err;

    if (consent < MIRE_CONSENT_UNKNOWN || consent > MIRE_CONSENT_REFUSED)
        return MIRE_E_RANGE;
    if (mire.owner_pid != mire__pid() || !enter(&state, HELD))
        return MIRE_E_STATE;
    err = mire__store_set_consent(mire.store, consent);
    if (err == MIRE_OK && mire.works)
        mire__worker_ring(&mire.worker, MIRE_BELL_WAY);
    else if (err == MIRE_OK)
        mire__store_refused(mire.store);
    leave(state);
    return err;
}

enum mire_consent mire_get_consent(void)
{
    enum mire_consent consent;
    uint32_t state;

    if (mire.owner_pid != mire__pid() || !enter(&state, HELD))
        return MIRE_CONSENT_UNKNOWN;
    consent = mire__store_consent(mire.store);
    leave(state);
    return consent;
}

void mire_set_network(enum mire_network network)
{
    if (network < MIRE_NETWORK_UNMETERED || network > MIRE_NETWORK_NONE)
        return;
    atomic_store_explicit(&mire.network, network, memory_order_relaxed);
    mire__worker_ring(&mire.worker, MIRE_BELL_WAY);
}

const struct monitor_context *mire__core_monitors(void)
{
    return settled_state() >= ON && mire.owner_pid == mire__pid() ? &mire.monitors : NULL;
}

enum mire_err mire_flush(uint32_t timeout_ms)
{
    if (timeout_ms > FLUSH_MAX_MS)
        return MIRE_E_RANGE;
    return mire__core_monitors() ? mire__flush(mire.store, timeout_ms) : MIRE_E_STATE;
}

void mire_set_foreground(int foreground)
{
    enum mire__ground ground = foreground ? MIRE_GROUND_FORE : MIRE_GROUND_BACK;

    mire__watch_set_foreground(ground);
    mire__exits_as_set_ground(ground);
    mire__session_as_set_front(foreground != 0);
    mire__worker_ring(&mire.worker, MIRE_BELL_LOOK);
}
