/* test_capture.c - stacks of this very process, and what makes a hang and what does not. */
#include "capture/capture.h"
#include "capture/sampler.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the sampler, on a thread in a known place ---- */

enum place { PLACE_SPIN, PLACE_SLEEP, PLACE_LOCK, PLACE_DEEP, PLACE_ALTSTACK, PLACE_DEAF, PLACE_QSORT };

static struct {
    enum place place;
    _Atomic uint32_t tid, stop;
    uint64_t slept_ns;
} subject;

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

#define STAY         __attribute__((noinline))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* no tail call */

/* Exported, so that dladdr can name them. */
void arrive(void);
void place_spin(void);
void place_sleep(void);
void place_lock(void);
void place_deep(int left);
void spin_in_handler(int signal);
void place_altstack(void);
void place_deaf(void);
int compare_and_spin(const void *a, const void *b);
void place_qsort(void);
void *be_subject(void *unused);

STAY void arrive(void)
{
    atomic_store(&subject.tid, mire__tid());
}

STAY void place_spin(void)
{
    arrive();
    while (!atomic_load(&subject.stop))
        ;
    KEEP_FRAME();
}

STAY void place_sleep(void)
{
    struct timespec half_second = {0, 500000000};
    uint64_t begin_ns = mire__now_ns();

    arrive();
    nanosleep(&half_second, NULL);
    subject.slept_ns = mire__now_ns() - begin_ns;
    while (!atomic_load(&subject.stop))
        usleep(1000);
    KEEP_FRAME();
}

STAY void place_lock(void)
{
    arrive();
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    KEEP_FRAME();
}

STAY void place_deep(int left)
{
    if (left > 0)
        place_deep(left - 1);
    else
        place_spin();
    KEEP_FRAME();
}

void spin_in_handler(int signal)
{
    (void)signal;
    place_spin();
    KEEP_FRAME();
}

STAY void place_altstack(void)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = spin_in_handler, .sa_flags = SA_ONSTACK};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
    KEEP_FRAME();
}

STAY void place_deaf(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    place_spin();
    KEEP_FRAME();
}

int compare_and_spin(const void *a, const void *b)
{
    if (!atomic_load(&subject.tid))
        place_spin();
    return *(const int *)a - *(const int *)b;
}

STAY void place_qsort(void)
{
    int numbers[] = {3, 1, 2};

    qsort(numbers, 3, sizeof(int), compare_and_spin);
    KEEP_FRAME();
}

void *be_subject(void *unused)
{
    switch (subject.place) {
    case PLACE_SPIN:
        place_spin();
        break;
    case PLACE_SLEEP:
        place_sleep();
        break;
    case PLACE_LOCK:
        place_lock();
        break;
    case PLACE_DEEP:
        place_deep(5000);
        break;
    case PLACE_ALTSTACK:
        place_altstack();
        break;
    case PLACE_DEAF:
        place_deaf();
        break;
    case PLACE_QSORT:
        place_qsort();
        break;
    }
    KEEP_FRAME();
    return unused;
}

static struct sampler sampler;

/* Take one sample of a thread in `place`. */
static void sample_at(struct sample *out, enum place place)
{
    pthread_t thread;

    memset(&subject, 0, sizeof(subject));
    memset(&sampler, 0, sizeof(sampler));
    subject.place = place;
    pthread_mutex_lock(&held);
    assert_int_equal(pthread_create(&thread, NULL, be_subject, NULL), 0);
    while (!atomic_load(&subject.tid))
        usleep(100);
    usleep(20000);
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    mire__modules_read(&sampler.modules, NULL);
    mire__sampler_take(out, &sampler, atomic_load(&subject.tid), NULL);
    if (place == PLACE_SLEEP)
        usleep(600000);
    atomic_store(&subject.stop, 1);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
    mire__sampler_close(&sampler);
}

/* Does the stack run through these functions, in this order, and end where threads begin? */
static bool runs_through(const struct sample *sample, const char *const names[], size_t count)
{
    size_t next = 0;

    for (uint32_t i = 0; i < sample->depth && next < count; i++) {
        Dl_info info;

        if (dladdr((void *)(uintptr_t)sample->pc[i], &info) && info.dli_sname &&
            strcmp(info.dli_sname, names[next]) == 0)
            next++;
    }
    return next == count;
}

#define ASSERT_RUNS(sample, ...)                                     \
    do {                                                             \
        const char *const names[] = {__VA_ARGS__};                   \
        assert_true(runs_through(sample, names, MIRE_COUNT(names))); \
    } while (0)

static void a_running_thread_answers(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_SPIN);
    assert_int_equal(sample.flags, 0);
    assert_int_equal(sample.state, 'R');
    assert_int_equal(sample.found[0], MIRE_FOUND_PC);
    ASSERT_RUNS(&sample, "place_spin", "be_subject");
    assert_true(sampler.cost.stopped_max_ns > 0);
}

static struct {
    struct sampler *sampler;
    _Atomic uint32_t tid;
    _Atomic bool stop;
    long faults;
} watched;

static void *open_and_spin(void *unused)
{
    struct rusage before, after;

    assert_int_equal(mire__sampler_open(watched.sampler), MIRE_OK);
    getrusage(RUSAGE_THREAD, &after);
    getrusage(RUSAGE_THREAD, &before);
    atomic_store(&watched.tid, mire__tid());
    while (!atomic_load(&watched.stop)) {
    }
    getrusage(RUSAGE_THREAD, &after);
    watched.faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
    return unused;
}

static void the_first_sample_finds_its_memory_there(void **state)
{
    (void)state;
    struct sample sample;
    pthread_t thread;

    watched.sampler = mmap(NULL, sizeof(*watched.sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(watched.sampler != MAP_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, open_and_spin, NULL), 0);
    while (!atomic_load(&watched.tid))
        usleep(100);
    mire__modules_read(&watched.sampler->modules, NULL);
    mire__sampler_take(&sample, watched.sampler, atomic_load(&watched.tid), NULL);
    atomic_store(&watched.stop, true);
    pthread_join(thread, NULL);
    mire__sampler_close(watched.sampler);
    assert_int_equal(sample.flags, 0);
    assert_int_equal(watched.faults, 0);
    print_message("interrupted for %u ns\n", (unsigned)watched.sampler->stopped_ns);
}

static void a_sleeping_thread_is_read_and_sleeps_on(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_SLEEP);
    assert_int_equal(sample.flags, MIRE_SAMPLE_BLOCKED);
    ASSERT_RUNS(&sample, "place_sleep", "be_subject");
    assert_true(subject.slept_ns >= 500000000);
    assert_int_equal(sampler.cost.stopped_max_ns, 0);
}

static void a_thread_waiting_for_a_lock_shows_where(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_LOCK);
    assert_int_equal(sample.flags, MIRE_SAMPLE_BLOCKED);
    ASSERT_RUNS(&sample, "place_lock", "be_subject");
}

static void deep_recursion_is_cut_and_marked(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_DEEP);
    assert_int_equal(sample.flags, MIRE_SAMPLE_CUT);
    assert_int_equal(sample.depth, MIRE_DEPTH_MAX);
    ASSERT_RUNS(&sample, "place_spin", "place_deep", "place_deep");
}

static void the_stack_goes_on_behind_an_alternate_one(void **state)
{
    (void)state;
    struct sample sample;
    bool crossed = false;

#if defined(__SANITIZE_THREAD__)
    skip(); /* this sanitizer runs handlers later, with every signal blocked */
#endif
    sample_at(&sample, PLACE_ALTSTACK);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "spin_in_handler", "place_altstack", "be_subject");
    for (uint32_t i = 0; i < sample.depth; i++)
        crossed |= sample.found[i] == MIRE_FOUND_SIGNAL;
    assert_true(crossed);
}

static void a_thread_that_blocks_signals_is_sampled_by_its_state(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_DEAF);
    assert_int_equal(sample.flags, MIRE_SAMPLE_SILENT);
    assert_int_equal(sample.depth, 0);
    assert_int_equal(sample.state, 'R');
}

static void a_callback_through_libc_is_unwound(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_QSORT);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "compare_and_spin", "place_qsort", "be_subject");
}

/* The same frames as glibc's own unwinder finds, from the handler's copy of this thread. */
static void frames_equal_those_of_backtrace(void **state)
{
    (void)state;
    static struct snapshot snapshot;
    static struct modules modules;
    void *trace[64];
    struct sample sample = {0};
    ucontext_t context;
    volatile int depth, same = 0; /* getcontext returns twice, says the compiler */

    depth = backtrace(trace, 64);
    getcontext(&context);
    mire__arch_as_regs(&snapshot.regs, &context);
    snapshot.stack_address = snapshot.regs.value[mire__arch.sp];
    snapshot.stack_size = mire__peek(snapshot.stack, snapshot.stack_address, sizeof(snapshot.stack));
    mire__modules_read(&modules, NULL);
    mire__unwind(&sample, &snapshot, &modules);
    assert_int_equal(sample.flags, 0);
    /* A sanitizer's own backtrace() has one frame more, further in. */
    assert_in_range(depth, sample.depth, sample.depth + 1);
    for (uint32_t i = 1; i < sample.depth; i++)
        same = same + (sample.pc[i] + 1 == (uintptr_t)trace[i + (uint32_t)depth - sample.depth]);
    assert_int_equal(same, sample.depth - 1);
}

static void unwinding_garbage_ends(void **state)
{
    (void)state;
    static struct snapshot snapshot;
    static struct modules modules;
    unsigned seed = 1;

    mire__modules_read(&modules, NULL);
    for (int round = 0; round < 20000; round++) {
        struct sample sample = {0};
        const struct module *module = &modules.list[(unsigned)rand_r(&seed) % modules.count];

        for (size_t i = 0; i < 4096; i++)
            snapshot.stack[i] = (uint8_t)rand_r(&seed);
        for (size_t i = 0; i < 4096; i += 16) { /* words that look like return addresses */
            uint64_t pc = module->text_start + (unsigned)rand_r(&seed) % (module->text_end - module->text_start);

            memcpy(snapshot.stack + i, &pc, 8);
        }
        snapshot.stack_address = 0x10000;
        snapshot.stack_size = 4096;
        for (size_t i = 0; i < MIRE_REGS_MAX; i++)
            snapshot.regs.value[i] = 0x10000 + (unsigned)rand_r(&seed) % 4096;
        snapshot.regs.known = ~0ull;
        snapshot.regs.pc = module->text_start + (unsigned)rand_r(&seed) % (module->text_end - module->text_start);
        mire__unwind(&sample, &snapshot, &modules);
        assert_in_range(sample.depth, 1, MIRE_DEPTH_MAX);
    }
}

/* ---- the check thread, each scene in a child process of its own ---- */

static struct blackbox *box;
static _Atomic uint32_t hang_count;
static struct hang last;
static uint64_t last_weight_ns;

static void note_hang(void *context, struct blackbox *from, uint32_t lane)
{
    (void)context;
    mire__blackbox_hang(&last, from, lane);
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
    struct watch_options options = {.settings = quick(threshold_ms), .on_hang = note_hang, .on_turning = on_turning};

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
    mire__hook_poll(NULL, 0, 250); /* the check thread says what it saw while this thread is idle */
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
    ok &= hang_count == 1 && last.state == MIRE_HANG_ENDED && last.gate == MIRE_GATE_POLL && !last.launch;
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

/* On the check thread, after it has slept and before it looks at the turn that is to be blamed. */
static void be_stopped_awake(void *context)
{
    (void)context;
    be_stopped();
}

static bool scene_a_stop_between_two_sleeps_is_no_hang(void)
{
    on_turning = be_stopped_awake;
    bool ok = start_watch(1200);

    for (int turn = 0; turn < 7; turn++) { /* the first turn's sleep is over in the fourth, as its work begins */
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
    struct hang hang;

    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child = fork();
    if (child == 0) {
        struct blackbox_facts facts = {.pid = mire__pid()};
        struct watch_options options = {.settings = quick(100), .box = box, .on_hang = note_hang};

        mire__hooks_bind(RTLD_DEFAULT);
        mire__blackbox_init(box, &facts);
        mire__watch_start(&options);
        mire__hook_poll(NULL, 0, 0);
        spin_ms(1000);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    ok &= mire__blackbox_check(box, sizeof(*box)) == MIRE_OK;
    mire__blackbox_hang(&hang, box, 0);
    ok &= hang.state == MIRE_HANG_OPEN && mire__hang_counts(&hang) && mire__ring_count(&box->lanes[0].ring) >= 2;
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
    mire__gate_as_wait_begin();
    usleep(300000);
    mire__thread_counters(&before, checker);
    usleep(500000);
    mire__thread_counters(&after, checker);
    return ok && after.voluntary_switches == before.voluntary_switches;
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

static void scene(bool (*play)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        alarm(20);
        _exit(play() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define SCENE(name)                \
    static void name(void **state) \
    {                              \
        (void)state;               \
        scene(scene_##name);       \
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
        cmocka_unit_test(a_running_thread_answers),
        cmocka_unit_test(the_first_sample_finds_its_memory_there),
        cmocka_unit_test(a_sleeping_thread_is_read_and_sleeps_on),
        cmocka_unit_test(a_thread_waiting_for_a_lock_shows_where),
        cmocka_unit_test(deep_recursion_is_cut_and_marked),
        cmocka_unit_test(the_stack_goes_on_behind_an_alternate_one),
        cmocka_unit_test(a_thread_that_blocks_signals_is_sampled_by_its_state),
        cmocka_unit_test(a_callback_through_libc_is_unwound),
        cmocka_unit_test(frames_equal_those_of_backtrace),
        cmocka_unit_test(unwinding_garbage_ends),
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
