/* test_sampler.c - samples of a thread in a known place of this very process. */
#include "capture/sampler.h"
#include "capture/signal.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

enum place {
    PLACE_SPIN,
    PLACE_SLEEP,
    PLACE_LOCK,
    PLACE_DEEP,
    PLACE_PAIR,
    PLACE_THREE,
    PLACE_LADDER,
    PLACE_HUGE,
    PLACE_ASLEEP,
    PLACE_ALTSTACK,
    PLACE_DEAF,
    PLACE_SHUT,
    PLACE_QSORT,
    PLACE_VFORK
};

static struct {
    enum place place;
    _Atomic uint32_t tid, stop;
    uint64_t slept_ns;
    uint64_t left_pending; /* signals, a bit each */
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
void place_ping(int left);
void place_pong(int left);
void place_one(int left);
void place_two(int left);
void place_three(int left);
void place_huge(int left);
void place_deep_sleep(int left);
void spin_in_handler(int signal);
void place_altstack(void);
void place_deaf(void);
void place_shut(void);
int compare_and_spin(const void *a, const void *b);
void place_qsort(void);
void place_vfork(void);
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

/* Two that call each other, and three. */
STAY void place_pong(int left)
{
    place_ping(left);
    KEEP_FRAME();
}

STAY void place_ping(int left)
{
    if (left > 0)
        place_pong(left - 1);
    else
        place_spin();
    KEEP_FRAME();
}

STAY void place_one(int left)
{
    place_two(left);
    KEEP_FRAME();
}

STAY void place_two(int left)
{
    place_three(left);
    KEEP_FRAME();
}

STAY void place_three(int left)
{
    if (left > 0)
        place_one(left - 1);
    else
        place_spin();
    KEEP_FRAME();
}

/* Frames of 200 KiB each. */
STAY void place_huge(int left)
{
    volatile char *room = alloca(200 * 1024);

    room[0] = 1;
    if (left > 0)
        place_huge(left - 1);
    else
        place_spin();
    KEEP_FRAME();
}

STAY void place_deep_sleep(int left)
{
    volatile char *room = alloca(4096);

    room[0] = 1;
    if (left > 0)
        place_deep_sleep(left - 1);
    else
        place_sleep();
    KEEP_FRAME();
}

/* 512 functions, each called once: step0 calls step1, and so on. */
typedef void stair(void);
#define STAIR(n, next)             \
    stair stair_##n, stair_##next; \
    STAY void stair_##n(void)      \
    {                              \
        stair_##next();            \
        KEEP_FRAME();              \
    }
#define STAIRS8(p, q) \
    STAIR(p##0, p##1) \
    STAIR(p##1, p##2) \
    STAIR(p##2, p##3) STAIR(p##3, p##4) STAIR(p##4, p##5) STAIR(p##5, p##6) STAIR(p##6, p##7) STAIR(p##7, q##0)
#define STAIRS64(p, q)  \
    STAIRS8(p##0, p##1) \
    STAIRS8(p##1, p##2) \
    STAIRS8(p##2, p##3) \
    STAIRS8(p##3, p##4) STAIRS8(p##4, p##5) STAIRS8(p##5, p##6) STAIRS8(p##6, p##7) STAIRS8(p##7, q##0)
STAIRS64(0, 1)
STAIRS64(1, 2) STAIRS64(2, 3) STAIRS64(3, 4) STAIRS64(4, 5) STAIRS64(5, 6) STAIRS64(6, 7) STAY void stair_700(void)
{
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

/* By the kernel's own call: libc's keeps a signal of its own out of the set. */
STAY void place_shut(void)
{
    uint64_t all = ~0ull;

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    place_spin();
    syscall(SYS_rt_sigpending, &subject.left_pending, sizeof(subject.left_pending));
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

/* The child runs on this very stack while the thread waits for it to end. */
STAY void place_vfork(void)
{
    struct timespec half_second = {0, 500000000};

    arrive();
    if (vfork() == 0) {
        nanosleep(&half_second, NULL);
        _exit(0);
    }
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
    case PLACE_PAIR:
        place_ping(5000);
        break;
    case PLACE_THREE:
        place_one(5000);
        break;
    case PLACE_LADDER:
        stair_000();
        break;
    case PLACE_HUGE:
        place_huge(20);
        break;
    case PLACE_ASLEEP:
        place_deep_sleep(400);
        break;
    case PLACE_ALTSTACK:
        place_altstack();
        break;
    case PLACE_DEAF:
        place_deaf();
        break;
    case PLACE_SHUT:
        place_shut();
        break;
    case PLACE_QSORT:
        place_qsort();
        break;
    case PLACE_VFORK:
        place_vfork();
        break;
    }
    KEEP_FRAME();
    return unused;
}

static struct sampler sampler;

/* A thread that got no processor on a busy machine is asked again. */
static void take_answered(struct sample *out, struct sampler *from, uint32_t tid)
{
    for (int i = 0; i < 50; i++) {
        mire__sampler_take(out, from, tid, NULL);
        if (out->loss != MIRE_LOSS_UNANSWERED)
            return;
    }
}

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
    mire__modules_read(&sampler.modules, NULL, NULL);
    take_answered(out, &sampler, atomic_load(&subject.tid));
    if (place == PLACE_SLEEP || place == PLACE_ASLEEP)
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

#if defined(__SANITIZE_THREAD__)
    skip(); /* it keeps notes of every access, in memory that comes when it is touched */
#endif
    watched.sampler = mmap(NULL, sizeof(*watched.sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(watched.sampler != MAP_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, open_and_spin, NULL), 0);
    while (!atomic_load(&watched.tid))
        usleep(100);
    mire__modules_read(&watched.sampler->modules, NULL, NULL);
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

    skip_if_proc_is_an_emulators();
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

    skip_if_proc_is_an_emulators();
    sample_at(&sample, PLACE_LOCK);
    assert_int_equal(sample.flags, MIRE_SAMPLE_BLOCKED);
    ASSERT_RUNS(&sample, "place_lock", "be_subject");
}

static void a_thread_in_vfork_is_read_below_its_child(void **state)
{
    (void)state;
    struct sample sample;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* the one makes it a fork, the other keeps the way back in a place of its own */
#endif
    skip_if_proc_is_an_emulators();
    sample_at(&sample, PLACE_VFORK);
    assert_int_equal(sample.flags, MIRE_SAMPLE_BLOCKED);
    ASSERT_RUNS(&sample, "place_vfork", "be_subject");
}

static void recursion_is_folded_and_counted(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_DEEP);
    assert_int_equal(sample.flags, 0);
    assert_true(sample.depth < 16);
    ASSERT_RUNS(&sample, "place_spin", "place_deep", "be_subject");
    assert_in_range(sample.folded, 4990, 5001);
    assert_int_equal(sample.skipped, 0);
}

static void mutual_recursion_is_folded_and_counted(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_PAIR);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "place_ping", "place_pong", "be_subject");
    assert_in_range(sample.folded, 9990, 10001);
    sample_at(&sample, PLACE_THREE);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "place_three", "place_two", "place_one", "be_subject");
    assert_in_range(sample.folded, 14990, 15003);
}

static void of_a_deep_stack_both_ends_are_kept(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_LADDER);
    assert_int_equal(sample.flags, MIRE_SAMPLE_CUT);
    assert_int_equal(sample.depth, MIRE_DEPTH_MAX);
    ASSERT_RUNS(&sample, "place_spin", "stair_700", "stair_677", "stair_650", "stair_010", "stair_000", "be_subject");
    assert_int_equal(sample.folded, 0);
    assert_in_range(sample.skipped, 449 - MIRE_DEPTH_MAX, 460 - MIRE_DEPTH_MAX);
}

/* 4 MiB of stack, of which 64 KiB are copied. */
static void large_frames_are_walked_over(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_HUGE);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "place_huge", "be_subject");
    assert_in_range(sample.folded, 18, 20);
    assert_true(sampler.snapshot.stack_size <= MIRE_STACK_COPY_BYTES);
}

static void a_deep_stack_is_read_asleep_as_well(void **state)
{
    (void)state;
    struct sample sample;

    skip_if_proc_is_an_emulators();
    sample_at(&sample, PLACE_ASLEEP);
    assert_int_equal(sample.flags, MIRE_SAMPLE_BLOCKED);
    ASSERT_RUNS(&sample, "place_sleep", "place_deep_sleep", "be_subject");
    assert_in_range(sample.folded, 398, 400);
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

static void a_thread_that_blocks_every_signal_answers(void **state)
{
    (void)state;
    struct sample sample;

#if defined(__SANITIZE_THREAD__)
    skip(); /* its runtime has to see each handler: libc's own signal is not used */
#endif
    skip_if_emulated("the emulator has libc's own signal for itself");
    sample_at(&sample, PLACE_DEAF);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "place_deaf", "be_subject");
}

static void what_cannot_be_asked_is_left_alone(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_SHUT);
    assert_int_equal(sample.flags, MIRE_SAMPLE_SILENT);
    assert_int_equal(sample.loss, MIRE_LOSS_BLOCKED);
    assert_int_equal(sample.depth, 0);
    assert_int_equal(sample.state, 'R');
    assert_int_equal(subject.left_pending, 0);
}

static void a_thread_that_has_ended_is_said_to(void **state)
{
    (void)state;
    struct sample sample;

    memset(&sampler, 0, sizeof(sampler));
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    mire__sampler_take(&sample, &sampler, 0x3ffff0, NULL);
    mire__sampler_close(&sampler);
    assert_int_equal(sample.loss, MIRE_LOSS_GONE);
}

/* What the program can see of all actions. */
static void read_actions(struct sigaction out[65])
{
    memset(out, 0, 65 * sizeof(out[0]));
    for (int signal = 1; signal <= 64; signal++)
        sigaction(signal, NULL, &out[signal]);
}

static void the_program_sees_no_signal_taken(void **state)
{
    (void)state;
    struct sigaction before[65], during[65];

#if defined(__SANITIZE_THREAD__)
    skip();
#endif
    skip_if_emulated("the emulator has libc's own signal for itself");
    memset(&sampler, 0, sizeof(sampler));
    read_actions(before);
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    read_actions(during);
    mire__sampler_close(&sampler);
    for (int signal = 1; signal <= 64; signal++) {
        assert_true(before[signal].sa_handler == during[signal].sa_handler);
        assert_int_equal(before[signal].sa_flags, during[signal].sa_flags);
    }
}

/* A thread that spins, and samples of it. */
struct spinner {
    pthread_t thread;
    struct sample sample;
};

static void begin_spinner(struct spinner *spinner)
{
    memset(&subject, 0, sizeof(subject));
    subject.place = PLACE_SPIN;
    assert_int_equal(pthread_create(&spinner->thread, NULL, be_subject, NULL), 0);
    while (!atomic_load(&subject.tid))
        usleep(100);
}

static void end_spinner(struct spinner *spinner)
{
    atomic_store(&subject.stop, 1);
    pthread_join(spinner->thread, NULL);
    mire__sampler_close(&sampler);
}

/* As when the thread begins to block signals just after it was looked at. */
static void a_signal_that_was_not_answered_is_taken_back(void **state)
{
    (void)state;
    struct thread_signals there;
    struct spinner spinner = {0};

    memset(&sampler, 0, sizeof(sampler));
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    memset(&subject, 0, sizeof(subject));
    subject.place = PLACE_SHUT;
    assert_int_equal(pthread_create(&spinner.thread, NULL, be_subject, NULL), 0);
    while (!atomic_load(&subject.tid))
        usleep(100);
    assert_int_equal(mire__signal_send(&sampler, subject.tid), MIRE_LOSS_NONE);
    mire__thread_signals(&there, subject.tid);
    assert_true(there.pending & MIRE_SIGNAL_BIT(sampler.signal));
    assert_int_equal(mire__signal_take_back(&sampler, subject.tid), MIRE_LOSS_BLOCKED);
    mire__thread_signals(&there, subject.tid);
    assert_int_equal(there.pending, 0);
    assert_true(mire__signal_holds(&sampler));
    end_spinner(&spinner);
    assert_int_equal(subject.left_pending, 0);
}

static int handled;

static void count_handled(int signal)
{
    (void)signal;
    handled++;
}

/* As where the system refuses to send libc's own: another one, as long as the program leaves it alone. */
static void a_signal_that_the_program_takes_is_changed_for_another(void **state)
{
    (void)state;
    struct spinner spinner;
    struct sigaction now;

    memset(&sampler, 0, sizeof(sampler));
    sampler.refused = MIRE_SIGNAL_BIT(MIRE_SIGNAL_LIBC);
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    assert_int_equal(sampler.signal, SIGURG);
    begin_spinner(&spinner);
    take_answered(&spinner.sample, &sampler, subject.tid);
    assert_int_equal(spinner.sample.loss, MIRE_LOSS_NONE);
    handled = 0;
    signal(SIGURG, count_handled);
    take_answered(&spinner.sample, &sampler, subject.tid);
    assert_int_equal(spinner.sample.loss, MIRE_LOSS_NONE);
    assert_true(sampler.signal > SIGRTMIN && sampler.signal < SIGRTMAX);
    sigaction(SIGURG, NULL, &now);
    assert_true(now.sa_handler == count_handled);
    end_spinner(&spinner);
    assert_int_equal(handled, 0);
    signal(SIGURG, SIG_DFL);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        sigaction(signal, NULL, &now);
        assert_true(now.sa_handler == SIG_DFL);
    }
}

static void *sleep_for_ever(void *unused)
{
    atomic_store(&subject.tid, mire__tid());
    for (;;)
        sleep(1);
    return unused;
}

static void cancel_one(void)
{
    pthread_t thread;
    void *result;

    memset(&subject, 0, sizeof(subject));
    assert_int_equal(pthread_create(&thread, NULL, sleep_for_ever, NULL), 0);
    while (!atomic_load(&subject.tid))
        usleep(100);
    usleep(5000);
    assert_int_equal(pthread_cancel(thread), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

/* libc's signal goes to libc's handler, whether that was put there before ours or after it. */
static void threads_are_cancelled_while_others_are_sampled(void **state)
{
    (void)state;
    struct spinner spinner;

    memset(&sampler, 0, sizeof(sampler));
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    for (int i = 0; i < 3; i++) {
        cancel_one();
        begin_spinner(&spinner);
        take_answered(&spinner.sample, &sampler, subject.tid);
        atomic_store(&subject.stop, 1);
        pthread_join(spinner.thread, NULL);
        assert_int_equal(spinner.sample.loss, MIRE_LOSS_NONE);
    }
    cancel_one();
    mire__sampler_close(&sampler);
    cancel_one();
}

static void a_callback_through_libc_is_unwound(void **state)
{
    (void)state;
    struct sample sample;

    sample_at(&sample, PLACE_QSORT);
    assert_int_equal(sample.flags, 0);
    ASSERT_RUNS(&sample, "place_spin", "compare_and_spin", "place_qsort", "be_subject");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_thread_answers),
        cmocka_unit_test(the_first_sample_finds_its_memory_there),
        cmocka_unit_test(a_sleeping_thread_is_read_and_sleeps_on),
        cmocka_unit_test(a_thread_waiting_for_a_lock_shows_where),
        cmocka_unit_test(a_thread_in_vfork_is_read_below_its_child),
        cmocka_unit_test(recursion_is_folded_and_counted),
        cmocka_unit_test(mutual_recursion_is_folded_and_counted),
        cmocka_unit_test(of_a_deep_stack_both_ends_are_kept),
        cmocka_unit_test(large_frames_are_walked_over),
        cmocka_unit_test(a_deep_stack_is_read_asleep_as_well),
        cmocka_unit_test(the_stack_goes_on_behind_an_alternate_one),
        cmocka_unit_test(a_thread_that_blocks_every_signal_answers),
        cmocka_unit_test(what_cannot_be_asked_is_left_alone),
        cmocka_unit_test(a_thread_that_has_ended_is_said_to),
        cmocka_unit_test(the_program_sees_no_signal_taken),
        cmocka_unit_test(a_signal_that_was_not_answered_is_taken_back),
        cmocka_unit_test(a_signal_that_the_program_takes_is_changed_for_another),
        cmocka_unit_test(threads_are_cancelled_while_others_are_sampled),
        cmocka_unit_test(a_callback_through_libc_is_unwound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
