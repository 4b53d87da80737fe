/* test_sampler.c - stacks of samples of a thread at a known position in this process. */
#include "capture/sampler.h"
#include "platform/platform.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/subject.h"

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

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* its runtime looks each access up in shadow memory, whose pages are made on demand: faults of its own */
#endif
    watched.sampler = mmap(NULL, sizeof(*watched.sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(watched.sampler != MAP_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, open_and_spin, NULL), 0);
    while (!atomic_load(&watched.tid))
        usleep(100);
    mire__modules_read(&watched.sampler->modules, NULL, NULL);
    take_answered(&sample, watched.sampler, atomic_load(&watched.tid));
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

static void a_callback_through_libc_is_unwound(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* qsort is the sanitizer's runtime's own, which has no rules to unwind by */
#endif
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
        cmocka_unit_test(a_callback_through_libc_is_unwound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
