/*
 * mire.c - the public calls, and the SDK's one global.
 *
 *     OFF --mire_start--> BUSY --> ON --mire_stop, exit--> BUSY --> OFF
 *                           '---- failed ----------------------------^
 *
 * Whoever turns OFF or ON into BUSY owns everything else in here until it leaves BUSY. A forked child owns nothing: its
 * pid is not `owner_pid`. It may start anew, and then leaks the sender it inherited: libcurl's locks may be held for
 * ever.
 */
#include "core/core.h"

#include "capture/capture.h"
#include "core/facts.h"
#include "core/monitors.h"
#include "core/options.h"
#include "core/place.h"
#include "core/worker.h"
#include "gate/gate.h"
#include "mire/ping.h"
#include "platform/platform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OFF, BUSY, ON, ON_IDLE /* sampled out: started, but watches nothing */ };

#define FLUSH_MAX_MS  600000u
#define FLUSH_LOOK_MS 10u

static struct {
    _Atomic uint32_t state; /* acquire on entry, release on exit of BUSY */
    uint32_t owner_pid;
    bool exit_hooked;
    bool end_hooked;
    pthread_key_t end; /* its destructor tells that the watched thread ends */
    _Atomic uint32_t watched_tid;
    mire_options options;
    struct store *store;
    struct store_box box;
    struct worker worker;
    struct monitor_context monitors;
} mire;

static bool enter(uint32_t from)
{
    return atomic_compare_exchange_strong_explicit(&mire.state, &from, BUSY, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void leave(uint32_t to)
{
    atomic_store_explicit(&mire.state, to, memory_order_release);
}

/* Is this installation among the share that is watched? Its identifier's first 32 bits decide, for good. */
static bool is_sampled(const char *install, double probability)
{
    char digits[9] = "";

    memcpy(digits, install, 8);
    return (double)strtoul(digits, NULL, 16) < probability * 4294967296.0;
}

static enum mire_err open_store(char install[33])
{
    char dir[MIRE_STORE_PATH_MAX];
    enum mire_err err = mire__place_open(&mire.store, dir, &mire.options);

    return err == MIRE_OK ? mire__store_install(install, mire.store) : err;
}

/* All but the worker. */
static void release(void)
{
    mire__monitors_stop();
    mire__variant_send_close(mire.worker.sender);
    mire__store_box_close(&mire.box);
}

static void turn_off(void)
{
    mire__store_close(mire.store);
    mire.store = NULL;
    leave(OFF);
}

/* On the worker. False: somebody stops already, and will join it. */
static bool stop_on_worker(void)
{
    if (!enter(ON))
        return false;
    pthread_detach(mire.worker.thread);
    release();
    turn_off();
    return true;
}

/* With disk for the first thread and the process; for others when they come. */
static enum mire_err open_box(void)
{
    const size_t first = offsetof(struct blackbox, lanes[1]),
                 last = offsetof(struct blackbox, lanes[MIRE_LANE_PROCESS]);
    enum mire_err err = mire__store_box_open(&mire.box, mire.store, sizeof(struct blackbox), first);

    if (err == MIRE_OK)
        err = mire__store_box_reserve(&mire.box, last, sizeof(struct lane));
    if (err != MIRE_OK)
        mire__store_box_close(&mire.box);
    return err;
}

static enum mire_err start_watching(const char *install)
{
    struct blackbox_facts facts;
    enum mire_err err = open_box();

    if (err != MIRE_OK)
        return err;
    mire__facts_collect(&facts, &mire.options, install);
    mire__blackbox_init(mire.box.memory, &facts);
    mire.worker = (struct worker){.store = mire.store,
                                  .log = mire.options.log,
                                  .log_context = mire.options.log_context,
                                  .on_gone = stop_on_worker};
    err = mire__variant_send_open(&mire.worker.sender, mire.store, &mire.options);
    if (err != MIRE_OK)
        goto fail_box;
    err = mire__worker_start(&mire.worker);
    if (err != MIRE_OK)
        goto fail_sender;
    mire.monitors = (struct monitor_context){.options = &mire.options,
                                             .box = mire.box.memory,
                                             .file = &mire.box,
                                             .store = mire.store,
                                             .worker = &mire.worker};
    err = mire__monitors_start(&mire.monitors);
    if (err != MIRE_OK)
        goto fail_worker;
    return MIRE_OK;
fail_worker:
    mire__worker_stop(&mire.worker);
fail_sender:
    mire__variant_send_close(mire.worker.sender);
fail_box:
    mire__store_box_close(&mire.box);
    return err;
}

/* The worker first: it may be hooking modules that a monitor's stop unhooks. A hang sealed after it just rings a bell.
 */
static void stop_watching(void)
{
    mire__worker_stop(&mire.worker);
    release();
}

/* At exit, or when the library is unloaded: then nobody may call into it any more. */
static void stop_at_exit(void)
{
    mire_stop();
    if (mire.end_hooked)
        pthread_key_delete(mire.end);
    mire.end_hooked = false;
}

/*
 * The watched thread ends, by pthread_exit or cancelled, and the process goes on with its others. It must end with the
 * last of those, so ours end now. A thread that was watched once, before another was, changes nothing.
 */
static void stop_at_thread_end(void *tid)
{
    if ((uint32_t)(uintptr_t)tid == atomic_load(&mire.watched_tid))
        mire_stop();
}

/* Without a key, or memory for it, the thread's end goes unnoticed. */
static void hook_ends(void)
{
    if (!mire.exit_hooked)
        mire.exit_hooked = atexit(stop_at_exit) == 0;
    if (!mire.end_hooked)
        mire.end_hooked = pthread_key_create(&mire.end, stop_at_thread_end) == 0;
    atomic_store(&mire.watched_tid, mire__tid());
    if (mire.end_hooked)
        pthread_setspecific(mire.end, (void *)(uintptr_t)mire__tid());
}

/* Called in BUSY, with the options in place; leaves it. */
static enum mire_err start(void)
{
    char install[33];
    uint32_t then = ON;
    enum mire_err err = open_store(install);

    mire.owner_pid = mire__pid();
    if (err == MIRE_OK && !is_sampled(install, mire.options.sampling))
        then = ON_IDLE;
    if (err == MIRE_OK && then == ON)
        err = start_watching(install);
    if (err != MIRE_OK) {
        turn_off();
        return err;
    }
    hook_ends();
    leave(then);
    return MIRE_OK;
}

enum mire_err mire_start(const mire_options *options)
{
    if (!options || !options->app_name[0])
        return MIRE_E_ARG;
    if (!enter(OFF))
        return MIRE_E_STATE;
    mire.options = *options;
    return start();
}

enum mire_err mire__core_start_from_environment(bool launch)
{
    if (!enter(OFF))
        return MIRE_E_STATE;
    mire__options_from_environment(&mire.options);
    mire.options.launch = launch ? MIRE_LAUNCH_SURE : MIRE_LAUNCH_NONE;
    if (!mire.options.app_name[0]) {
        leave(OFF);
        return MIRE_E_ARG;
    }
    return start();
}

enum mire_err mire__core_restart_in_child(void)
{
    if (mire.owner_pid == mire__pid() || atomic_load_explicit(&mire.state, memory_order_relaxed) != ON)
        return MIRE_E_STATE;
    leave(BUSY);
    mire__store_close(mire.store); /* plain memory, no lock in it */
    mire.store = NULL;
    memset(&mire.box, 0, sizeof(mire.box));
    mire.options.launch = MIRE_LAUNCH_NONE;
    mire__watch_settings(&mire.options.settings);
    return start();
}

enum mire_err mire_stop(void)
{
    uint32_t state = atomic_load_explicit(&mire.state, memory_order_relaxed);

    if ((state != ON && state != ON_IDLE) || mire.owner_pid != mire__pid() || !enter(state))
        return MIRE_E_STATE;
    if (state == ON)
        stop_watching();
    turn_off();
    return MIRE_OK;
}

static bool any_left(const struct store_item *items, size_t count)
{
    struct store_item now[MIRE_STORE_LIST_MAX / 4];
    size_t now_count = mire__store_list(now, MIRE_COUNT(now), mire.store);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < now_count; j++)
            if (strcmp(items[i].id, now[j].id) == 0)
                return true;
    return false;
}

/* Sleep a little. False: the end has come. */
static bool pause_until(uint64_t end_ns)
{
    _Atomic uint32_t never = 0;
    uint64_t now_ns = mire__now_ns();

    if (now_ns >= end_ns)
        return false;
    mire__futex_wait(&never, 0, now_ns + FLUSH_LOOK_MS * MIRE_NS_PER_MS);
    return true;
}

enum mire_err mire_flush(uint32_t timeout_ms)
{
    struct store_item items[MIRE_STORE_LIST_MAX / 4];
    const uint64_t end_ns = mire__now_ns() + timeout_ms * MIRE_NS_PER_MS;
    size_t count;

    if (timeout_ms > FLUSH_MAX_MS)
        return MIRE_E_RANGE;
    uint32_t state = atomic_load_explicit(&mire.state, memory_order_acquire);
    if ((state != ON && state != ON_IDLE) || mire.owner_pid != mire__pid())
        return MIRE_E_STATE;
    while (!mire__watch_settled())
        if (!pause_until(end_ns))
            return MIRE_E_TIMEOUT;
    count = mire__store_list(items, MIRE_COUNT(items), mire.store);
    while (any_left(items, count))
        if (!pause_until(end_ns))
            return MIRE_E_TIMEOUT;
    return MIRE_OK;
}

/* Started, by this process? Sampled out, there is nothing to do. */
static bool is_started(uint32_t *state)
{
    *state = atomic_load_explicit(&mire.state, memory_order_acquire);
    return (*state == ON || *state == ON_IDLE) && mire.owner_pid == mire__pid();
}

enum mire_err mire_watch_thread(const char *name)
{
    uint32_t state;

    if (name && !mire__options_is_thread_name(name))
        return MIRE_E_ARG;
    if (!is_started(&state))
        return MIRE_E_STATE;
    return state == ON_IDLE || mire__gate_enter(0, name) >= 0 ? MIRE_OK : MIRE_E_FULL;
}

enum mire_err mire_unwatch_thread(void)
{
    uint32_t state;

    if (!is_started(&state))
        return MIRE_E_STATE;
    mire_ping_stop();
    mire__gate_exit();
    return MIRE_OK;
}

void mire_set_foreground(int foreground)
{
    mire__watch_set_foreground(foreground ? MIRE_GROUND_FORE : MIRE_GROUND_BACK);
}

enum mire_err mire_set_number(const char *name, uint32_t value)
{
    uint32_t state;

    if (!name)
        return MIRE_E_ARG;
    return is_started(&state) ? mire__watch_set(name, value) : MIRE_E_STATE;
}

void mire_loop_enter(void)
{
    mire__gate_as_mark_enter();
}

void mire_loop_leave(void)
{
    mire__gate_as_mark_leave();
}

void mire_loop_set_waits(int which)
{
    mire__gate_as_set_waits(which);
}
