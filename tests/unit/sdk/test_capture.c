/* test_capture.c - which turns are hangs. Each scene runs in a child process. */
#include "capture/capture.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/starved.h"

static struct blackbox *box;
static _Atomic uint32_t hang_count;
static struct event last;
static uint64_t last_weight_ns;

static void note_hang(void *context, struct blackbox *from, uint32_t lane)
{
    (void)context;
    mire__blackbox_event(&last, from, lane);
    last_weight_ns = 0;
    for (uint32_t i = 0; i < mire__ring_count(&from->lanes[lane].ring); i++) {
        uint64_t weight_ns;

        mire__ring_at(&weight_ns, &from->lanes[lane].ring, i);
        last_weight_ns += weight_ns;
    }
    atomic_fetch_add(&hang_count, 1);
}

static void (*on_turning)(void *context);

static struct capture_settings quick(uint32_t threshold_ms)
{
    struct capture_settings settings = MIRE_SETTINGS_INIT;

    settings.foreground_ms = settings.background_ms = settings.launch_ms = settings.unanswered_ms = threshold_ms;
    settings.period_ms = 10;
    return settings;
}

static bool start_watch(uint32_t threshold_ms)
{
    struct blackbox_facts facts = {.pid = mire__pid()};
    struct watch_options options = {.settings = quick(threshold_ms), .on_event = note_hang, .on_turning = on_turning};

    mire__hooks_bind(RTLD_DEFAULT);
    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mire__blackbox_init(box, &facts);
    options.box = box;
    return mire__watch_start(&options) == MIRE_OK && mire__watch_start(&options) == MIRE_E_STATE;
}

static void spin_ms(uint64_t ms)
{
    uint64_t end_ns = mire__now_ns() + ms * MIRE_NS_PER_MS;

    while (mire__now_ns() < end_ns)
        ;
}

static void turn_and_settle(void)
{
    mire__hook_poll(NULL, 0, 250); /* the check thread reports its findings while this thread is idle */
}

static bool scene_a_long_turn_is_a_hang(void)
{
    bool ok = start_watch(600);

    mire__hook_poll(NULL, 0, 0);
    spin_ms(50);
    turn_and_settle();
    ok &= hang_count == 0;
    spin_ms(1500);
    turn_and_settle();
    ok &= hang_count == 1 && last.state == MIRE_EVENT_ENDED && last.gate == MIRE_GATE_POLL && !last.launch;
    ok &= last.end_ns - last.begin_ns >= 1490 * MIRE_NS_PER_MS && last.end_ns - last.begin_ns < 3000 * MIRE_NS_PER_MS;
    ok &= last_weight_ns > 300 * MIRE_NS_PER_MS && last_weight_ns < last.end_ns - last.begin_ns;
    ok &= last.use.cpu_ns > 100 * MIRE_NS_PER_MS && last.id[6] >> 4 == 7;
    mire__watch_stop();
    return ok && hang_count == 1;
}

static bool scene_a_launch_is_watched(void)
{
    bool ok = start_watch(200);

    spin_ms(300);
    turn_and_settle();
    return ok && hang_count == 1 && last.launch && last.gate == MIRE_GATE_NONE;
}

static bool scene_a_program_without_a_loop_has_no_hang(void)
{
    bool ok = start_watch(200);

    spin_ms(300);
    mire__watch_stop();
    return ok && hang_count == 0;
}

static bool scene_stopping_ends_a_hang(void)
{
    bool ok = start_watch(200);

    mire__hook_poll(NULL, 0, 0);
    spin_ms(300);
    mire__watch_stop();
    ok &= hang_count == 1 && last.exited;
    ok &= start_watch(200);
    mire__hook_poll(NULL, 0, 0);
    spin_ms(300);
    turn_and_settle();
    return ok && hang_count == 2 && !last.exited;
}

static void be_stopped(void)
{
    pid_t waker;

    spin_ms(50); /* the check thread goes to sleep first */
    waker = fork();

    if (waker == 0) {
        usleep(2000000);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(waker, NULL, 0);
}

static bool scene_a_stopped_process_is_no_hang(void)
{
    bool ok = start_watch(1200);

    mire__hook_poll(NULL, 0, 0);
    spin_ms(50);
    be_stopped();
    spin_ms(50);
    turn_and_settle();
    for (int turn = 0; turn < 30; turn++) { /* the check thread sleeps towards some earlier turn's end */
        mire__hook_poll(NULL, 0, 1);
        spin_ms(5);
    }
    be_stopped();
    turn_and_settle();
    be_stopped(); /* the check thread was parked before */
    turn_and_settle();
    return ok && hang_count == 0;
}

/* On the check thread, after its sleep and before its look at the turn in question. */
static void be_stopped_awake(void *context)
{
    static int left = 3; /* each costs two seconds */

    (void)context;
    if (left-- > 0)
        be_stopped();
}

static bool scene_a_stop_between_two_sleeps_is_no_hang(void)
{
    on_turning = be_stopped_awake;
    bool ok = start_watch(1200);

    for (int turn = 0; turn < 7; turn++) { /* a look falls into the work of each turn */
        mire__hook_poll(NULL, 0, 1);
        for (int part = 0; part < 10; part++)
            spin_ms(20);
    }
    turn_and_settle();
    return ok && hang_count == 0;
}

static bool scene_an_open_hang_stands_in_the_box(void)
{
    pid_t child;
    bool ok = true;
    struct event hang;

    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child = fork();
    if (child == 0) {
        struct blackbox_facts facts = {.pid = mire__pid()};
        struct watch_options options = {.settings = quick(100), .box = box, .on_event = note_hang};

        mire__hooks_bind(RTLD_DEFAULT);
        mire__blackbox_init(box, &facts);
        mire__watch_start(&options);
        mire__hook_poll(NULL, 0, 0);
        spin_ms(1000);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    ok &= mire__blackbox_check(box, sizeof(*box)) == MIRE_OK;
    mire__blackbox_event(&hang, box, 0);
    ok &= hang.state == MIRE_EVENT_OPEN && mire__event_counts(&hang) && mire__ring_count(&box->lanes[0].ring) >= 2;
    ok &= mire__blackbox_image_count(box) > 2;
    return ok;
}

static bool scene_an_idle_loop_wakes_nobody(void)
{
    bool ok = start_watch(100);
    struct thread_counters before, after;
    uint32_t checker = 0;

    mire__hook_poll(NULL, 0, 300);
    for (uint32_t tid = mire__tid() + 1; tid < mire__tid() + 20 && !checker; tid++) {
        mire__thread_counters(&before, tid);
        if (strcmp(before.name, "mire-check") == 0)
            checker = tid;
    }
    ok &= checker != 0;
    mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
    do { /* it looks twice more whether the loop turns, and rests for ever */
        usleep(200000);
        mire__thread_counters(&before, checker);
        usleep(500000);
        mire__thread_counters(&after, checker);
    } while (ok && after.voluntary_switches != before.voluntary_switches);
    return ok;
}

static bool scene_a_deaf_thread_hangs_all_the_same(void)
{
    sigset_t all;
    bool ok = start_watch(200);

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    mire__hook_poll(NULL, 0, 0);
    spin_ms(600);
    turn_and_settle();
    return ok && hang_count == 1 && last.late_ns < 100 * MIRE_NS_PER_MS;
}

static bool scene_a_taken_signal_harms_nobody(void)
{
    bool ok = start_watch(200);

    mire__hook_poll(NULL, 0, 0);
    signal(SIGURG, SIG_DFL);
    spin_ms(300);
    turn_and_settle();
    return ok && hang_count == 1;
}

#define SCENE(name)                  \
    static void name(void **state)   \
    {                                \
        (void)state;                 \
        starved_scene(scene_##name); \
    }
SCENE(a_long_turn_is_a_hang)
SCENE(a_launch_is_watched)
SCENE(a_program_without_a_loop_has_no_hang)
SCENE(stopping_ends_a_hang)
SCENE(a_stopped_process_is_no_hang)
SCENE(a_stop_between_two_sleeps_is_no_hang)
SCENE(an_open_hang_stands_in_the_box)
SCENE(an_idle_loop_wakes_nobody)
SCENE(a_taken_signal_harms_nobody)
SCENE(a_deaf_thread_hangs_all_the_same)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_turn_is_a_hang),
        cmocka_unit_test(a_launch_is_watched),
        cmocka_unit_test(a_program_without_a_loop_has_no_hang),
        cmocka_unit_test(stopping_ends_a_hang),
        cmocka_unit_test(a_stopped_process_is_no_hang),
        cmocka_unit_test(a_stop_between_two_sleeps_is_no_hang),
        cmocka_unit_test(an_open_hang_stands_in_the_box),
        cmocka_unit_test(an_idle_loop_wakes_nobody),
        cmocka_unit_test(a_taken_signal_harms_nobody),
        cmocka_unit_test(a_deaf_thread_hangs_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
