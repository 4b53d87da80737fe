/* test_lanes.c - several watched threads, and a lane's knowledge of its turns. Each scene runs in a child. */
#include "capture/capture.h"
#include "capture/lane.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"
#include "support/starved.h"

#define HANGS_MAX 8

static struct blackbox *box;
static _Atomic uint32_t hang_count;
static struct event hangs[HANGS_MAX];
static uint32_t lanes[HANGS_MAX];
static const char names[][MIRE_GATE_NAME_BYTES] = {"painter"};

static void note_hang(void *context, struct blackbox *from, uint32_t lane)
{
    uint32_t at = atomic_load(&hang_count);

    (void)context;
    mire__blackbox_event(&hangs[at], from, lane);
    lanes[at] = lane;
    atomic_store(&hang_count, at + 1);
}

static struct watch_options options_for(uint32_t threshold_ms)
{
    struct blackbox_facts facts = {.pid = mire__pid()};
    struct watch_options options = {
        .settings = MIRE_SETTINGS_INIT, .on_event = note_hang, .names = names, .names_count = 1};

    options.settings.foreground_ms = options.settings.background_ms = options.settings.launch_ms = threshold_ms;
    options.settings.period_ms = 10;
    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mire__blackbox_init(box, &facts);
    mire__hooks_bind(RTLD_DEFAULT);
    options.box = box;
    return options;
}

static bool start_watch(uint32_t threshold_ms)
{
    struct watch_options options = options_for(threshold_ms);
    bool ok = mire__watch_start(&options) == MIRE_OK;

    mire__hook_poll(NULL, 0, 0);
    return ok;
}

static void idle_ms(int ms)
{
    mire__hook_poll(NULL, 0, ms);
}

static void spin_ms(uint64_t ms)
{
    uint64_t end_ns = mire__now_ns() + ms * MIRE_NS_PER_MS;

    while (mire__now_ns() < end_ns)
        ;
}

/* Wait idly until a condition holds; otherwise the scene's alarm ends it. */
#define IDLE_UNTIL(condition) \
    while (!(condition))      \
    idle_ms(20)

static const struct event *hang_of(uint32_t tid)
{
    for (uint32_t i = 0; i < atomic_load(&hang_count); i++)
        if (hangs[i].tid == tid)
            return &hangs[i];
    return NULL;
}

/* ---- threads ---- */

static _Atomic uint32_t further_tid;

static void *hang_beside(void *name)
{
    atomic_store(&further_tid, mire__tid());
    mire__gate_enter(0, name);
    idle_ms(20);
    sleep_through(700);
    idle_ms(2000);
    return NULL;
}

static bool scene_threads_hang_each_in_its_lane(void)
{
    bool ok = start_watch(300);
    pthread_t thread;
    const struct event *mine, *others;

    pthread_create(&thread, NULL, hang_beside, "drawing");
    spin_ms(600);
    IDLE_UNTIL(atomic_load(&hang_count) == 2);
    mine = hang_of(mire__tid());
    others = hang_of(atomic_load(&further_tid));
    ok &= mine && others && lanes[0] != lanes[1] && strcmp(others->thread_name, "drawing") == 0;
    ok &= mine && others && others->use.cpu_ns < 200 * MIRE_NS_PER_MS && mine->use.cpu_ns > 50 * MIRE_NS_PER_MS;
    ok &= mine && others && memcmp(mine->id, others->id, sizeof(mine->id)) != 0;
    mire__watch_stop();
    pthread_join(thread, NULL);
    return ok;
}

static void *hang_named(void *unused)
{
    pthread_setname_np(pthread_self(), "painter");
    idle_ms(20);
    sleep_through(700);
    idle_ms(1000);
    return unused;
}

static bool scene_a_thread_is_found_by_its_name(void)
{
    bool ok = start_watch(300);
    pthread_t thread;

    pthread_create(&thread, NULL, hang_named, NULL);
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    ok &= strcmp(hangs[0].thread_name, "painter") == 0 && !hangs[0].launch && hangs[0].gate == MIRE_GATE_POLL;
    pthread_join(thread, NULL);
    return ok;
}

static void *enter_and_end(void *unused)
{
    mire__gate_enter(0, NULL);
    return unused;
}

static bool scene_a_thread_that_ended_leaves_its_lane(void)
{
    bool ok = start_watch(2000);
    struct gate_view view;
    pthread_t thread;

    pthread_create(&thread, NULL, enter_and_end, NULL);
    pthread_join(thread, NULL);
    ok &= mire__gate_look(&view, 1);
    IDLE_UNTIL(!mire__gate_look(&view, 1));
    mire__watch_stop();
    return ok && hang_count == 0;
}

static _Atomic uint64_t left_ns;

/* The thread leaves at once after its hang: in the same turn, or after a wait of no time. */
static void *hang_and_leave(void *waits)
{
    mire__gate_enter(0, "short");
    idle_ms(20);
    sleep_through(600);
    atomic_store(&left_ns, mire__now_ns());
    if (waits)
        idle_ms(0);
    mire__gate_exit();
    return NULL;
}

static bool scene_the_end_of_a_thread_that_leaves_is_exact(void)
{
    bool ok = start_watch(300);
    pthread_t thread;
    uint64_t ends_ns[2];

    for (uint32_t i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, hang_and_leave, i ? &ok : NULL);
        IDLE_UNTIL(atomic_load(&hang_count) == i + 1);
        pthread_join(thread, NULL);
        ends_ns[i] = atomic_load(&left_ns);
        ok &= hangs[i].end_ns >= ends_ns[i] && hangs[i].end_ns < ends_ns[i] + 5 * MIRE_NS_PER_MS;
    }
    mire__watch_stop();
    return ok;
}

static bool scene_a_thread_that_leaves_takes_its_hang_along(void)
{
    bool ok = start_watch(300);

    spin_ms(600);
    ok &= mire__gate_exit();
    while (atomic_load(&hang_count) == 0)
        usleep(20000);
    return ok && hang_count == 1 && hangs[0].exited && mire__event_duration_ns(&hangs[0]) >= 300 * MIRE_NS_PER_MS;
}

/* ---- turns ---- */

static uint64_t micro_sum(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < MIRE_MICRO_BUCKETS; i++)
        sum += atomic_load(&box->micro.count[i]);
    return sum;
}

static bool scene_long_turns_are_counted_by_their_length(void)
{
    bool ok = start_watch(30000);

    spin_ms(260);
    IDLE_UNTIL(micro_sum() == 1);
    spin_ms(1100);
    IDLE_UNTIL(micro_sum() == 2);
    ok &= atomic_load(&box->micro.count[0]) <= 1 && atomic_load(&box->micro.count[1]) <= 1;
    mire__watch_stop();
    return ok && hang_count == 0;
}

static bool scene_a_hang_is_counted_too(void)
{
    bool ok = start_watch(250);

    spin_ms(400);
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    return ok && micro_sum() == 1;
}

/* Between two readings of the clock, with a tolerance of one millisecond. */
static bool is_between(uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
    return ns + MIRE_NS_PER_MS >= from_ns && ns <= to_ns + MIRE_NS_PER_MS;
}

static bool scene_begin_and_end_are_exact(void)
{
    bool ok = start_watch(300);
    uint64_t before_ns, begun_ns, ended_ns, after_ns;

    idle_ms(700);
    before_ns = mire__now_ns();
    mire__hook_poll(NULL, 0, 0);
    begun_ns = mire__now_ns();
    spin_ms(500);
    ended_ns = mire__now_ns();
    mire__hook_poll(NULL, 0, 0);
    after_ns = mire__now_ns();
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    return ok && is_between(hangs[0].begin_ns, before_ns, begun_ns) && is_between(hangs[0].end_ns, ended_ns, after_ns);
}

static bool scene_a_launch_counts_from_before_the_watch(void)
{
    struct watch_options options = options_for(2000);
    bool ok;

    options.begun_ns = mire__now_ns() - 5 * MIRE_NS_PER_S;
    ok = mire__watch_start(&options) == MIRE_OK;
    spin_ms(50);
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    ok &= hangs[0].launch && hangs[0].begin_ns == options.begun_ns && hangs[0].gate == MIRE_GATE_NONE;
    ok &= mire__event_guess(&hangs[0]) == MIRE_GUESS_LAUNCH_BLOCK;
    return ok;
}

/* The check thread's first look finds the turn busy or over, or the turn ends during that look. */
static bool scene_a_launch_that_ends_as_it_is_looked_at_is_told(void)
{
    bool ok = true;

    for (int i = 0; i < 30; i++) {
        struct watch_options options = options_for(2000);

        options.begun_ns = mire__now_ns() - 5 * MIRE_NS_PER_S;
        atomic_store(&hang_count, 0);
        ok &= mire__watch_start(&options) == MIRE_OK;
        IDLE_UNTIL(atomic_load(&hang_count) == 1);
        ok &= hangs[0].launch && hangs[0].begin_ns == options.begun_ns;
        mire__watch_stop();
    }
    return ok;
}

/* ---- settings ---- */

static bool scene_the_background_has_a_threshold_of_its_own(void)
{
    bool ok = start_watch(300);

    ok &= mire__watch_set("background_ms", 30000) == MIRE_OK;
    mire__watch_set_foreground(MIRE_GROUND_BACK);
    spin_ms(600);
    idle_ms(300);
    ok &= hang_count == 0;
    mire__watch_set_foreground(MIRE_GROUND_FORE);
    spin_ms(600);
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    return ok && hangs[0].foreground == MIRE_GROUND_FORE && hangs[0].threshold_ms == 300;
}

static bool scene_a_threshold_changes_while_watching(void)
{
    bool ok = start_watch(30000);
    struct capture_settings settings;

    spin_ms(400);
    idle_ms(100);
    ok &= hang_count == 0;
    ok &= mire__watch_set("foreground_ms", 250) == MIRE_OK && mire__watch_set("foreground_ms", 249) == MIRE_E_RANGE;
    ok &= mire__watch_set("nothing", 250) == MIRE_E_ARG;
    mire__watch_settings(&settings);
    ok &= settings.foreground_ms == 250 && settings.background_ms == 30000;
    spin_ms(500);
    IDLE_UNTIL(atomic_load(&hang_count) == 1);
    return ok && hangs[0].threshold_ms == 250;
}

static bool scene_idle_lanes_wake_nobody(void)
{
    bool ok = start_watch(300);
    struct thread_counters before, after;
    uint32_t checker = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, hang_beside, "drawing");
    IDLE_UNTIL(atomic_load(&hang_count) == 1); /* it idles for long now, and so does this one */
    for (uint32_t tid = mire__tid() + 1; tid < mire__tid() + 20 && !checker; tid++) {
        mire__thread_counters(&before, tid);
        if (strcmp(before.name, "mire-check") == 0)
            checker = tid;
    }
    mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
    do { /* it looks twice more whether the loop turns, and rests for ever */
        usleep(200000);
        mire__thread_counters(&before, checker);
        usleep(400000);
        mire__thread_counters(&after, checker);
    } while (checker != 0 && after.voluntary_switches != before.voluntary_switches);
    ok &= checker != 0;
    mire__watch_stop();
    pthread_join(thread, NULL);
    return ok;
}

/* A loop may wait for a semaphore that is never raised; but not while Mire's own code runs. */
static bool scene_a_sleep_in_work_of_ours_is_no_wait(void)
{
    struct timespec until;
    bool ok = start_watch(300), ours;
    sem_t never;

    sem_init(&never, 0, 0);
    idle_ms(100);
    idle_ms(100);
    spin_ms(500);
    ours = mire__gate_as_ours_begin();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (sem_timedwait(&never, &until) != 0 && errno == EINTR)
        ;
    mire__gate_as_ours_end(ours);
    spin_ms(500);
    IDLE_UNTIL(atomic_load(&hang_count) > 0);
    idle_ms(300);
    ok &= ours && atomic_load(&hang_count) == 1 && hangs[0].end_ns - hangs[0].begin_ns >= 1990 * MIRE_NS_PER_MS;
    mire__watch_stop();
    return ok;
}

static void *wait_long(void *unused)
{
    mire__gate_enter(0, NULL);
    idle_ms(1);
    idle_ms(1);
    idle_ms(2000);
    return unused;
}

/* The turn ends between the look at the gate and the sample: that shows the next wait, and not a wait in this turn. */
static bool scene_a_sample_after_the_end_of_a_turn_is_no_rest(void)
{
    static struct sampler sampler;
    static struct lane_watch lane;
    static _Atomic uint64_t open_turn;
    static _Atomic uint32_t wake;
    const struct watch_options options = options_for(300);
    const struct gate_options gate = {.wake = &wake};
    struct check check = {.options = &options, .settings = options.settings, .box = box, .sampler = &sampler};
    struct event event = {.begin_ns = mire__now_ns(), .threshold_ms = 300};
    struct gate_view view = {.turn = 0};
    pthread_t thread;
    bool ok = mire__sampler_open(&sampler) == MIRE_OK;

    mire__gate_open(&gate);
    pthread_create(&thread, NULL, wait_long, NULL);
    while (!mire__gate_look(&view, 0) || view.turn < 5)
        usleep(10000);
    usleep(100000); /* it sleeps in the third wait */
    view.turn--;
    event.tid = lane.tid = view.tid;
    lane.turn = view.turn;
    lane.state = LANE_OPEN;
    lane.open_turn = &open_turn;
    mire__record_open(&check, &lane.record, &event);
    mire__lane_follow(&check, &lane, &view);
    ok &= lane.state == LANE_OPEN && !lane.rest.rests && mire__ring_count(&box->lanes[0].ring) == 0;
    mire__gate_stop();
    pthread_join(thread, NULL);
    return ok;
}

#define SCENES(X)                                    \
    X(threads_hang_each_in_its_lane)                 \
    X(a_thread_is_found_by_its_name)                 \
    X(a_thread_that_ended_leaves_its_lane)           \
    X(a_thread_that_leaves_takes_its_hang_along)     \
    X(the_end_of_a_thread_that_leaves_is_exact)      \
    X(long_turns_are_counted_by_their_length)        \
    X(a_hang_is_counted_too)                         \
    X(begin_and_end_are_exact)                       \
    X(a_launch_counts_from_before_the_watch)         \
    X(a_launch_that_ends_as_it_is_looked_at_is_told) \
    X(the_background_has_a_threshold_of_its_own)     \
    X(a_threshold_changes_while_watching)            \
    X(idle_lanes_wake_nobody)                        \
    X(a_sleep_in_work_of_ours_is_no_wait)            \
    X(a_sample_after_the_end_of_a_turn_is_no_rest)

#define DEFINE(name)                 \
    static void name(void **state)   \
    {                                \
        (void)state;                 \
        starved_scene(scene_##name); \
    }
SCENES(DEFINE)

int main(void)
{
#define ROW(name) cmocka_unit_test(name),
    const struct CMUnitTest tests[] = {SCENES(ROW)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
