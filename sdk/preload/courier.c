/*
 * courier.c - see courier.h. The program tells nobody when it has sealed a report, so the store is looked at.
 */
#include "preload/courier.h"

#include "core/facts.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "report/report.h"
#include "store/outbox.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS     500u
#define STACK_BYTES (1024 * 1024)
#define NOGROUP     65534u

#define TRIES 3 /* to end the session, while others hold its file */

enum { ENDING = 1, ENDING_NOW = 2 };

/* Returns how long to sleep, in milliseconds. */
static uint64_t deliver(struct courier *courier)
{
    const struct upload_now now = {.wall_ms = mire__wall_now_ms(), .boot_ms = mire__boot_now_ns() / MIRE_NS_PER_MS};
    struct upload_tally tally;
    uint64_t wait_ms;

    if (!courier->upload)
        return LOOK_MS;
    mire__remote_step(&courier->remote, courier->upload, courier->store, mire__now_ns(), &now);
    if (courier->remote.killed)
        return UINT64_MAX;
    wait_ms = mire__upload_round(courier->upload, &tally, &now);
    courier->total.sent += tally.sent;
    courier->total.refused += tally.refused;
    courier->total.broken += tally.broken;
    courier->total.waiting = tally.waiting;
    if (tally.last.status || tally.last.problem[0])
        courier->total.last = tally.last;
    return wait_ms;
}

/* The program is gone: try until all is sent, or until main's patience ends and it cancels. */
static void deliver_the_rest(struct courier *courier)
{
    uint64_t wait_ms = deliver(courier);

    while (courier->upload && wait_ms != UINT64_MAX &&
           atomic_load_explicit(&courier->ending, memory_order_acquire) != ENDING_NOW) {
        mire__futex_wait(&courier->ending, ENDING, mire__now_ns() + (wait_ms + 1) * MIRE_NS_PER_MS);
        wait_ms = deliver(courier);
    }
}

/* This thread accesses files with the user's rights from now on. The kernel has rights per thread. */
static void act_as(uint32_t user)
{
    if (user == 0)
        return;
    syscall(SYS_setgroups, 0, NULL);
    syscall(SYS_setfsgid, NOGROUP);
    syscall(SYS_setfsuid, user);
}

/* Print the messages of the program's processes. */
static void repeat(void *context, const char *words)
{
    (void)context;
    fprintf(stderr, "mire-run: %s\n", words);
}

static void look(struct courier *courier)
{
    mire__store_hear(courier->store, repeat, NULL);
    mire__outbox_take_all(courier->store, mire__wall_now_ms());
    if (courier->on_look)
        courier->on_look(courier->context);
}

static void recover(struct courier *courier, struct report_finder *finder)
{
    finder->now_ms = mire__wall_now_ms();
    finder->settles = true;
    finder->session = courier->session;
    mire__report_recover(courier->store, finder);
}

/* Take the share of a session whose file is in another store: mire-run adds it there. */
static void take_share(struct courier *courier)
{
    if (mire__store_session_load(&courier->share, sizeof(courier->share), courier->store, courier->session) != MIRE_OK)
        courier->share.size = 0;
    mire__store_session_forget(courier->store, courier->session);
}

/* A rollout document that has come by now decides. */
static void end_session(struct courier *courier)
{
    if (!courier->keeps || courier->goes_on)
        return;
    for (int tries = 0; tries < TRIES; tries++) {
        if (run_session_end(courier->keeps, courier->ended_ns, courier->stays) != MIRE_E_STORE)
            break;
        recover(courier, &(struct report_finder){.ended = courier->ended.pid ? &courier->ended : NULL});
    }
    mire__sessions_recover(courier->store, courier->stays ? courier->session : NULL, mire__wall_now_ms());
}

static void *run(void *context)
{
    struct courier *courier = context;
    uint64_t wait_ms;

    act_as(courier->user);
    recover(courier, &(struct report_finder){.next = courier->next.app_version[0] ? &courier->next : NULL});
    while (!atomic_load_explicit(&courier->ending, memory_order_acquire)) {
        look(courier);
        if (courier->keeps)
            run_session_look(courier->keeps);
        wait_ms = deliver(courier);
        if (wait_ms > LOOK_MS)
            wait_ms = LOOK_MS;
        mire__futex_wait(&courier->ending, 0, mire__now_ns() + (wait_ms + 1) * MIRE_NS_PER_MS);
    }
    look(courier);
    recover(courier,
            &(struct report_finder){.ended = courier->ended.pid ? &courier->ended : NULL, .unkept = &courier->unkept});
    if (!courier->keeps)
        take_share(courier);
    if (courier->on_end)
        courier->on_end(courier->context);
    deliver(courier);
    end_session(courier);
    deliver_the_rest(courier);
    return NULL;
}

enum mire_err courier_open(struct courier *courier, const mire_options *options)
{
    const struct upload_options delivery = mire__options_delivery(options);
    char install[33] = "";
    enum mire_err err;

    mire__store_install(install, courier->store);
    mire__facts_collect(&courier->facts, options, install);
    mire__facts_of_run(&courier->next, &courier->facts);
    if (!delivery.url)
        return MIRE_OK;
    err = mire__upload_open(&courier->upload, courier->store, &delivery, NULL);
    if (err != MIRE_OK)
        return err;
    mire__remote_init(&courier->remote, &courier->facts, courier->store);
    return MIRE_OK;
}

enum mire_err courier_start(struct courier *courier)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int failed;

    if (!mire__thread_attributes(&attributes, STACK_BYTES))
        return MIRE_E_SYSTEM;
    atomic_store(&courier->ending, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&courier->thread, &attributes, run, courier);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? MIRE_E_SYSTEM : MIRE_OK;
}

void courier_finish(struct courier *courier, uint64_t patience_ms)
{
    uint64_t end_ms = mire__wall_now_ms() + patience_ms;
    const struct timespec end = {.tv_sec = (time_t)(end_ms / 1000), .tv_nsec = (long)(end_ms % 1000) * 1000000};

    atomic_store_explicit(&courier->ending, ENDING, memory_order_release);
    mire__futex_wake(&courier->ending);
    if (pthread_timedjoin_np(courier->thread, NULL, &end) == 0)
        return;
    if (courier->upload)
        mire__upload_cancel(courier->upload, true);
    atomic_store_explicit(&courier->ending, ENDING_NOW, memory_order_release);
    mire__futex_wake(&courier->ending);
    pthread_join(courier->thread, NULL);
}
