/*
 * mire.c - start and stop. state.h has the states, and the owner of the global in each.
 */
#include "core/core.h"
#include "core/state.h"

#include "base/alloc.h"
#include "capture/capture.h"
#include "core/conditions.h"
#include "core/context.h"
#include "core/departure.h"
#include "core/facts.h"
#include "core/memory_reports.h"
#include "core/monitor_exit.h"
#include "core/monitor_heap.h"
#include "core/store_location.h"
#include "core/process_session.h"
#include "core/sealing.h"
#include "gate/gate.h"
#include "platform/apart.h"
#include "platform/platform.h"
#include "platform/quiet.h"
#include "report/left_out.h"

#include <pthread.h>
#include <string.h>

/* Called on the thread that seals. */
static bool move_store(void *context, struct store *store)
{
    (void)context;
    if (!mire__store_location_move(store, &mire__core.options))
        return false;
    mire__worker_wake(&mire__core.worker, MIRE_WAKE_MOVED);
    return true;
}

static enum mire_err open_store(void)
{
    char dir[MIRE_STORE_PATH_MAX];
    enum mire_err err = mire__store_location_open(&mire__core.store, dir, &mire__core.options);

    if (err == MIRE_OK && mire__variant.moves)
        mire__store_on_lost(mire__core.store, move_store, NULL);
    return err == MIRE_OK ? mire__store_install(mire__core.install, mire__core.store) : err;
}

struct session_stop {
    bool exits, recorded;
};

static void end_session(void *context)
{
    struct session_stop *stop = context;

    mire__sealing_work(&mire__core.monitors); /* there may have been no worker for it */
    stop->recorded = mire__process_session_end(stop->exits);
}

/* All but the worker. */
static void release(bool exits)
{
    struct session_stop session = {.exits = exits};

    mire__monitor_exit_end();
    mire__core.monitors.exits = exits;
    mire__monitors_stop(&mire__core.monitors, NULL);
    mire__apart_run(end_session, &session);
    mire__variant_send_close(mire__core.worker.sender);
    mire__context_close();
    mire__core_box_close(!session.recorded);
    mire__core.monitors = (struct monitor_context){0}; /* the next run may watch nothing */
    mire__core.works = false;
}

static void count(struct mire_counts *out)
{
    struct store_item *items = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    struct store_balance balance;

    mire__store_balance(&balance, mire__core.store);
    *out = (struct mire_counts){.sent = balance.sent,
                                .kept = items ? mire__store_list(items, MIRE_STORE_LIST_MAX, mire__core.store) : 0,
                                .dropped = balance.dropped};
    mire__free(items);
}

static void close_store(void)
{
    mire__store_close(mire__core.store);
}

static void turn_off(void)
{
    mire__core_apart(close_store);
    mire__core.store = NULL;
    mire__core.expects = false;
    mire__core_leave(MIRE_CORE_OFF);
}

/* Called on the worker. False: another thread stops already, and joins the worker. */
static bool stop_on_worker(void)
{
    if (mire__core_settled() != MIRE_CORE_ON || !mire__core_turn(MIRE_CORE_ON, MIRE_CORE_BUSY))
        return false;
    pthread_detach(mire__core.worker.thread);
    release(false);
    turn_off();
    return true;
}

/* Called on the worker. */
static void seal_waiting(void)
{
    if (mire__core.box.memory)
        mire__sealing_work(&mire__core.monitors);
}

/* Called on the worker after a new document is in the store. False: another thread starts or stops; try again later. */
static bool obey_rollout(void)
{
    struct plan plan;
    uint32_t then = MIRE_CORE_ON;

    mire__plan_load(&plan, mire__core.store, &mire__core.options, mire__core.install);
    mire__left_out_set(plan.rollout.leave_out);
    if (atomic_load(&mire__core.state) == MIRE_CORE_ON_IDLE)
        return true;
    if (!mire__core_turn(MIRE_CORE_ON, MIRE_CORE_HELD))
        return false;
    mire__monitors_obey(&mire__core.monitors, &plan);
    mire__process_session_obey(&plan);
    mire__process_session_note_plugins(mire__core.monitors.running);
    if (mire__core.monitors.running == 0 && !plan.on[MIRE_PLUGIN_SESSION]) {
        seal_waiting();
        mire__context_close();
        mire__core_box_close(!mire__process_session_end(false));
        then = MIRE_CORE_ON_IDLE;
    }
    mire__core_leave(then);
    return true;
}

/* Called on the worker. */
static uint64_t look_at_process(void)
{
    uint64_t exits_ns = mire__monitor_exit_look(), session_ns = mire__process_session_look();

    mire__memory_reports_look();
    mire__condition_room(mire__store_dir(mire__core.store));
    return exits_ns < session_ns ? exits_ns : session_ns;
}

static enum mire_err start_worker(const struct blackbox_facts *facts)
{
    enum mire_err err;

    mire__core.worker =
        (struct worker){.store = mire__core.store,
                        .options = &mire__core.options,
                        .log = mire__core.options.log,
                        .log_context = mire__core.options.log_context,
                        .clock = mire__core.options.clock,
                        .clock_context = mire__core.options.clock_context,
                        .on_gone = stop_on_worker,
                        .on_seal = seal_waiting,
                        .on_rollout = obey_rollout,
                        .on_look = look_at_process,
                        .on_keep = mire__monitor_heap_keep,
                        .losses = mire__core.box.memory ? &((struct blackbox *)mire__core.box.memory)->losses : NULL,
                        .recovers = mire__variant.recovers_launched || mire__core.options.launch == MIRE_LAUNCH_NONE,
                        .settles = !mire__core.options.session[0],
                        .box = mire__core.box.memory,
                        .end_mark = mire__core.box.memory ? mire__core.end_mark : NULL,
                        .rollout_mark = mire__core.rollout_mark};
    mire__facts_of_run(&mire__core.worker.next, facts);
    err = mire__variant_send_open(&mire__core.worker.sender, &mire__core.worker.remote, mire__core.store,
                                  &mire__core.options, facts);
    if (err == MIRE_OK)
        err = mire__worker_start(&mire__core.worker);
    if (err != MIRE_OK)
        mire__variant_send_close(mire__core.worker.sender);
    mire__core.works = err == MIRE_OK;
    return err;
}

static void stop_worker(void)
{
    mire__worker_stop(&mire__core.worker);
    mire__variant_send_close(mire__core.worker.sender);
    mire__core.works = false;
}

static enum mire_err start_watching(const struct blackbox_facts *facts)
{
    struct blackbox *box;
    enum mire_err err = mire__core_box_open();

    if (err != MIRE_OK)
        return err;
    box = mire__core.box.memory;
    mire__blackbox_unreserve(box, 1, MIRE_LANE_PROCESS - 1);
    mire__blackbox_unreserve(box, MIRE_LANE_WAITING, MIRE_LANES - 1);
    mire__blackbox_init(box, facts);
    for (int i = 0; i < MIRE_PLUGINS; i++)
        atomic_store(&box->facts.sampling_ppm[i], mire__core.plan.ppm[i]);
    mire__store_wait_in(mire__core.store, box->losses.waiting);
    mire__context_open(&box->context);
    mire__process_session_open(box, mire__core.store, &mire__core.options, &mire__core.plan);
    mire__core.monitors = (struct monitor_context){.options = &mire__core.options,
                                                   .box = box,
                                                   .file = &mire__core.box,
                                                   .store = mire__core.store,
                                                   .worker = &mire__core.worker,
                                                   .plan = &mire__core.plan};
    err = start_worker(facts);
    if (err != MIRE_OK)
        goto fail_box;
    err = mire__monitors_start(&mire__core.monitors);
    if (err != MIRE_OK)
        goto fail_worker;
    mire__process_session_note_plugins(mire__core.monitors.running);
    return MIRE_OK;
fail_worker:
    stop_worker();
fail_box:
    mire__process_session_forget();
    mire__context_close();
    mire__core_box_close(false);
    return err;
}

/*
 * Stop the check thread first: the caller then waits for the worker, perhaps for long, and that wait is no hang. Stop
 * the worker next: it may be patching modules that a monitor's stop restores.
 */
static void stop_watching(bool exits)
{
    mire__watch_stop();
    if (mire__core.works)
        mire__worker_stop(&mire__core.worker);
    release(exits);
}

/* Decide which monitors run in this process. */
static void make_plan(void)
{
    mire__core.rollout_mark = mire__store_rollout_mark(mire__core.store);
    mire__plan_load(&mire__core.plan, mire__core.store, &mire__core.options, mire__core.install);
    mire__left_out_set(mire__core.plan.rollout.leave_out);
    if (mire__variant.takes_numbers)
        mire__plan_numbers(&mire__core.options.settings, &mire__core.plan.rollout);
}

/*
 * In a program that has confined itself the watch cannot be stopped, and ends with the process.
 *   counts_out  NULL for none
 */
static enum mire_err stop(bool exits, struct mire_counts *counts_out)
{
    uint32_t state;

    if (mire__quiet_is() || mire__core.owner_pid != mire__pid() || !mire__core_enter(&state, MIRE_CORE_BUSY))
        return MIRE_E_STATE;
    mire__variant_unsubscribe();
    if (state == MIRE_CORE_ON)
        stop_watching(exits);
    else if (mire__core.works)
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

/* The reading part of a start. */
static void look_around(void *context)
{
    struct beginning *now = context;

    now->err = open_store();
    if (now->err != MIRE_OK)
        return;
    make_plan();
    now->watches = mire__monitors_any(&mire__core.plan);
    mire__facts_collect(&now->facts, &mire__core.options, mire__core.install);
}

/* Called in state BUSY with valid options; leaves the state. */
static enum mire_err start(void)
{
    struct beginning now = {.watches = false};
    bool watches;
    enum mire_err err;

    mire__variant_begin();
    mire__core.owner_pid = mire__pid();
    mire__apart_run(look_around, &now);
    err = now.err;
    watches = now.watches;
    if (watches)
        err = start_watching(&now.facts);
    else if (err == MIRE_OK && mire__core.options.server_url[0])
        err = start_worker(&now.facts);
    if (err != MIRE_OK) {
        if (mire__core.store && err == MIRE_E_SYSTEM)
            mire__core_say(
                "is not watched: the system refused a thread, a signal or a mapping; check its limits (ulimit -a)");
        turn_off();
        return err;
    }
    mire__gate_as_ours_end(true);
    mire__departure_hook(depart);
    mire__core_leave(watches ? MIRE_CORE_ON : MIRE_CORE_ON_IDLE);
    mire__variant_subscribe(&mire__core.options);
    return MIRE_OK;
}

enum mire_err mire_start(const mire_options *options)
{
    if (!options || !options->app_name[0] || !mire__options_server_is_safe(options))
        return MIRE_E_ARG;
    if (!mire__core_turn(MIRE_CORE_OFF, MIRE_CORE_BUSY))
        return MIRE_E_STATE;
    mire__core.options = *options;
    mire__core.options.delivery.network = &mire__core.network;
    mire__alloc_use(&mire__core.options.allocator);
    return start();
}

enum mire_err mire__core_start_from_environment(bool launch, uint64_t begun_ns)
{
    if (mire__quiet_is() || !mire__core_turn(MIRE_CORE_OFF, MIRE_CORE_BUSY))
        return MIRE_E_STATE;
    mire__options_from_environment(&mire__core.options);
    mire__core.options.launch = launch ? MIRE_LAUNCH_SURE : MIRE_LAUNCH_NONE;
    mire__core.options.launch_ns = begun_ns;
    if (!mire__core.options.app_name[0]) {
        mire__core_leave(MIRE_CORE_OFF);
        return MIRE_E_ARG;
    }
    return start();
}

enum mire_err mire__core_restart_in_child(void)
{
    if (mire__core.owner_pid == mire__pid() ||
        atomic_load_explicit(&mire__core.state, memory_order_relaxed) != MIRE_CORE_ON)
        return MIRE_E_STATE;
    mire__core_leave(MIRE_CORE_BUSY);
    /* The tables belong to the parent. Without this the new worker would read them before this process has its own. */
    mire__memory_reports_end();
    mire__core.store = NULL; /* not freed: mire__variant_begin */
    mire__core.expects = false;
    memset(&mire__core.box, 0, sizeof(mire__core.box));
    mire__core.monitors = (struct monitor_context){0};
    mire__core.options.launch = MIRE_LAUNCH_NONE;
    mire__watch_settings(&mire__core.options.settings);
    return start();
}

enum mire_err mire_stop(struct mire_counts *counts_out)
{
    if (counts_out)
        *counts_out = (struct mire_counts){0};
    return stop(false, counts_out);
}
