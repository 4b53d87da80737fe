/*
 * test_late.c - hangs while the check thread is late: alone, or because the whole process was stopped. Each scene runs in
 * a child.
 */
#include "capture/capture.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"
#include "support/starved.h"

#define HUNG_MS      1500
#define THRESHOLD_MS 1000
#define STOP_MS      2000
#define HELD_UP_MS   900
#define DEADLINE_MS  300 /* from a deadline of the check thread on, a stop is noticed */
#define SPINNERS     3
#define STARVED_NS   (300 * MIRE_NS_PER_MS)
#define STARVED      77 /* exit status of a scene whose own thread got too little processor time */

static struct blackbox *box;
static _Atomic uint32_t hang_count;
static struct event last;

static void note_hang(void *context, struct blackbox *from, uint32_t lane)
{
    (void)context;
    mire__blackbox_event(&last, from, lane);
    atomic_fetch_add(&hang_count, 1);
}

static bool start_watch(void (*on_turning)(void *context))
{
    struct blackbox_facts facts = {.pid = mire__pid()};
    struct watch_options options = {.settings = MIRE_SETTINGS_INIT, .on_event = note_hang, .on_turning = on_turning};

    options.settings.foreground_ms = options.settings.background_ms = options.settings.launch_ms = THRESHOLD_MS;
    options.settings.period_ms = 10;
    mire__hooks_bind(RTLD_DEFAULT);
    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mire__blackbox_init(box, &facts);
    options.box = box;
    if (mire__watch_start(&options) != MIRE_OK)
        return false;
    mire__hook_poll(NULL, 0, 50);
    return true;
}

static void settle(void)
{
    for (int i = 0; i < 100 && atomic_load(&hang_count) == 0; i++)
        mire__hook_poll(NULL, 0, 20);
}

/* ---- a lock that another thread holds ---- */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t is_held;

static void *hold(void *ms)
{
    pthread_mutex_lock(&held);
    atomic_store(&is_held, 1);
    sleep_through((uintptr_t)ms);
    pthread_mutex_unlock(&held);
    return NULL;
}

static __attribute__((noinline)) void wait_for_lock(uintptr_t ms)
{
    pthread_t thread;

    atomic_store(&is_held, 0);
    pthread_create(&thread, NULL, hold, (void *)ms);
    while (!atomic_load(&is_held))
        sched_yield();
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
}

static uint64_t length_ns(void)
{
    return last.end_ns - last.begin_ns - last.late_ns;
}

/* ---- the check thread alone gets no processor ---- */

static uint32_t checker;

static bool find_checker(void *context, uint32_t tid)
{
    char name[MIRE_THREAD_NAME_BYTES];

    (void)context;
    mire__thread_name(name, tid);
    if (strcmp(name, "mire-check") == 0)
        checker = tid;
    return checker == 0;
}

/* Busy processes on the last processor. Returns its set. */
static cpu_set_t start_spinners(pid_t spinners[SPINNERS])
{
    cpu_set_t all, one;
    int cpu = CPU_SETSIZE - 1;

    sched_getaffinity(0, sizeof(all), &all);
    while (cpu > 0 && !CPU_ISSET(cpu, &all))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    for (int i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        if (spinners[i] == 0) {
            sched_setaffinity(0, sizeof(one), &one);
            alarm(30);
            for (;;)
                ;
        }
    }
    return one;
}

static void end_spinners(const pid_t spinners[SPINNERS])
{
    for (int i = 0; i < SPINNERS; i++) {
        kill(spinners[i], SIGKILL);
        waitpid(spinners[i], NULL, 0);
    }
}

/* Keep the check thread to a processor with busy processes, behind all of them. */
static bool starve_checker(pid_t spinners[SPINNERS])
{
    const struct sched_param none = {0};
    cpu_set_t one = start_spinners(spinners);

    mire__threads_visit(find_checker, NULL);
    return checker && sched_setaffinity((pid_t)checker, sizeof(one), &one) == 0 &&
           sched_setscheduler((pid_t)checker, SCHED_IDLE, &none) == 0;
}

static bool scene_a_starved_check_thread_takes_nothing_off(void)
{
    pid_t spinners[SPINNERS];
    uint64_t waited_ns, checker_waited_ns;
    bool ok = start_watch(NULL);

    ok &= starve_checker(spinners);
    mire__hook_poll(NULL, 0, 300);
    waited_ns = mire__thread_waited_ns(mire__tid());
    checker_waited_ns = mire__thread_waited_ns(checker);
    wait_for_lock(HUNG_MS);
    waited_ns = mire__thread_waited_ns(mire__tid()) - waited_ns;
    end_spinners(spinners);
    settle();
    printf("the check thread waited for %u ms, the hung one for %u; %u ms taken off\n",
           (unsigned)((mire__thread_waited_ns(checker) - checker_waited_ns) / MIRE_NS_PER_MS),
           (unsigned)(waited_ns / MIRE_NS_PER_MS), (unsigned)(last.late_ns / MIRE_NS_PER_MS));
    fflush(stdout);
    if (waited_ns > STARVED_NS)
        _exit(STARVED);
    return ok && hang_count == 1 && last.late_ns <= waited_ns + 100 * MIRE_NS_PER_MS;
}

/* ---- the watched thread gets too little, after a wait in a call without a hook ---- */

static void wait_unhooked(int ms)
{
    syscall(SYS_ppoll, NULL, 0, &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL, 8);
}

/* The check thread finds the work at its next look, a second after the begin. */
static bool scene_a_begin_found_late_counts_the_wait_for_a_processor(void)
{
    pid_t spinners[SPINNERS];
    bool ok = start_watch(NULL);
    uint64_t began_ns;
    cpu_set_t one;

    mire__gate_as_ours_end(true); /* mire_start is over */
    wait_unhooked(2000);
    one = start_spinners(spinners);
    ok &= sched_setaffinity(0, sizeof(one), &one) == 0;
    began_ns = mire__now_ns();
    while (mire__now_ns() - began_ns < 2 * HUNG_MS * MIRE_NS_PER_MS)
        ;
    wait_unhooked(300);
    end_spinners(spinners);
    settle();
    printf("waited %u ms for a processor; the begin is off by %d ms\n",
           (unsigned)(mire__thread_waited_ns(mire__tid()) / MIRE_NS_PER_MS),
           (int)((int64_t)(last.begin_ns - began_ns) / (int64_t)MIRE_NS_PER_MS));
    fflush(stdout);
    return ok && hang_count == 1 && last.begin_ns > began_ns - 200 * MIRE_NS_PER_MS &&
           last.begin_ns < began_ns + 200 * MIRE_NS_PER_MS;
}

/* ---- the check thread is held up in its work ---- */

static _Atomic uint32_t hold_up, called;

/* Called once a second at most, if the loop has turned, also during a hang. */
static void be_held_up(void *context)
{
    (void)context;
    atomic_store(&called, 1);
    if (atomic_exchange(&hold_up, 0))
        sleep_through(HELD_UP_MS);
}

static void turn_until_called(void)
{
    while (!atomic_load(&called)) {
        mire__hook_poll(NULL, 0, 1);
        sleep_through(5);
    }
    for (int i = 0; i < 60; i++) { /* the next call is due, but not at once */
        mire__hook_poll(NULL, 0, 1);
        sleep_through(5);
    }
    atomic_store(&hold_up, 1);
}

static bool scene_a_held_up_check_thread_takes_nothing_off(void)
{
    bool ok = start_watch(be_held_up);
    uint64_t waited_ns;

    turn_until_called();
    mire__hook_poll(NULL, 0, 1);
    waited_ns = mire__thread_waited_ns(mire__tid());
    wait_for_lock(HUNG_MS + HELD_UP_MS);
    if (mire__thread_waited_ns(mire__tid()) - waited_ns > STARVED_NS)
        _exit(STARVED);
    settle();
    return ok && hang_count == 1 && !atomic_load(&hold_up) &&
           length_ns() >= (HUNG_MS + HELD_UP_MS - 100) * MIRE_NS_PER_MS - STARVED_NS;
}

/* ---- the process is stopped ---- */

static void stop_after(uint64_t ms, pid_t pid)
{
    sleep_through(ms);
    kill(pid, SIGSTOP);
    sleep_through(STOP_MS);
    kill(pid, SIGCONT);
    _exit(0);
}

static pid_t have_stopped(uint64_t after_ms)
{
    pid_t child = fork();

    if (child == 0)
        stop_after(after_ms, getppid());
    return child;
}

static bool scene_a_stop_during_a_sleep_is_no_hang(void)
{
    bool ok = start_watch(NULL);
    pid_t child = have_stopped(100);

    wait_for_lock(400);
    mire__hook_poll(NULL, 0, 250);
    waitpid(child, NULL, 0);
    return ok && hang_count == 0;
}

static bool scene_a_stop_in_a_hang_is_taken_off(void)
{
    bool ok = start_watch(NULL);
    pid_t child = have_stopped(300);

    wait_for_lock(STOP_MS + HUNG_MS + 500);
    settle();
    waitpid(child, NULL, 0);
    ok &= hang_count == 1 && last.late_ns > (STOP_MS - DEADLINE_MS) * MIRE_NS_PER_MS;
    return ok && length_ns() >= HUNG_MS * MIRE_NS_PER_MS &&
           length_ns() < (HUNG_MS + 500 + DEADLINE_MS + 200) * MIRE_NS_PER_MS;
}

/* On the check thread, between two of its sleeps. */
static void be_stopped(void *context)
{
    (void)context;
    atomic_store(&called, 1);
    if (atomic_exchange(&hold_up, 0))
        waitpid(have_stopped(0), NULL, 0);
}

static bool scene_a_stop_between_two_sleeps_is_taken_off(void)
{
    bool ok = start_watch(be_stopped);

    turn_until_called();
    mire__hook_poll(NULL, 0, 1);
    wait_for_lock(THRESHOLD_MS - 100);
    settle();
    return ok && hang_count == 0 && !atomic_load(&hold_up);
}

#define SCENE(name)                  \
    static void name(void **state)   \
    {                                \
        (void)state;                 \
        starved_scene(scene_##name); \
    }
SCENE(a_stop_during_a_sleep_is_no_hang)
SCENE(a_stop_in_a_hang_is_taken_off)
SCENE(a_stop_between_two_sleeps_is_taken_off)

/* Where nothing but the hung thread's own wait for a processor is an excuse. */
static void play_beside_others(bool (*play)(void))
{
    int status = STARVED << 8;

    skip_if_proc_is_an_emulators();
    if (mire__thread_awake_ns(mire__tid()) == 0 || access("/proc/self/schedstat", R_OK) != 0)
        skip();
    for (int i = 0; i < STARVED_TRIES && WIFEXITED(status) && WEXITSTATUS(status) == STARVED; i++) {
        pid_t child = fork();

        if (child == 0) {
            alarm(STARVED_END_S);
            _exit(play() ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == STARVED)
        skip();
    assert_int_equal(status, 0);
}

static void a_starved_check_thread_takes_nothing_off(void **state)
{
    (void)state;
    play_beside_others(scene_a_starved_check_thread_takes_nothing_off);
}

static void a_begin_found_late_counts_the_wait_for_a_processor(void **state)
{
    (void)state;
    play_beside_others(scene_a_begin_found_late_counts_the_wait_for_a_processor);
}

static void a_held_up_check_thread_takes_nothing_off(void **state)
{
    (void)state;
    play_beside_others(scene_a_held_up_check_thread_takes_nothing_off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_starved_check_thread_takes_nothing_off),
        cmocka_unit_test(a_begin_found_late_counts_the_wait_for_a_processor),
        cmocka_unit_test(a_held_up_check_thread_takes_nothing_off),
        cmocka_unit_test(a_stop_during_a_sleep_is_no_hang),
        cmocka_unit_test(a_stop_in_a_hang_is_taken_off),
        cmocka_unit_test(a_stop_between_two_sleeps_is_taken_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
