/* test_loop.c - the verdict on a thread that sleeps in a call of its loop's function, and the time at which it is given. */
#include "capture/loop.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

#define SLEEP_MS 400
#define WORK_NS  (2 * MIRE_NS_PER_MS)

static struct {
    _Atomic uint32_t tid, rounds, over;
    uint64_t from; /* an address in the function of the loop */
} subject;

/* The function of the loop: it sleeps itself, by the clock, and works in between. */
static void *be_loop(void *unused)
{
    subject.from = (uint64_t)(uintptr_t)be_loop + 8;
    atomic_store(&subject.tid, mire__tid());
    while (!atomic_load(&subject.over)) {
        uint64_t begin_ns;

        sleep_through(SLEEP_MS);
        begin_ns = mire__thread_cpu_ns(0);
        while (mire__thread_cpu_ns(0) - begin_ns < WORK_NS)
            ;
        atomic_fetch_add(&subject.rounds, 1);
    }
    return unused;
}

static struct {
    struct sampler sampler;
    struct check check;
    struct loop loop;
    struct gate_view view;
    pthread_t thread;
} scene;

static int begin(void **state)
{
    struct blackbox_facts facts = {.pid = mire__pid()};

    (void)state;
    memset(&subject, 0, sizeof(subject));
    memset(&scene, 0, sizeof(scene));
    mire__hooks_bind(RTLD_DEFAULT);
    scene.check.sampler = &scene.sampler;
    scene.check.box = mmap(NULL, sizeof(*scene.check.box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mire__blackbox_init(scene.check.box, &facts);
    if (mire__sampler_open(&scene.sampler) != MIRE_OK || pthread_create(&scene.thread, NULL, be_loop, NULL) != 0)
        return -1;
    while (!atomic_load(&subject.tid))
        usleep(100);
    mire__loop_begin(&scene.loop, &scene.check, 0);
    scene.view =
        (struct gate_view){.turn = 3, .kind = 1, .tid = subject.tid, .all_count = true, .wait = {.from = subject.from}};
    return 0;
}

static int end(void **state)
{
    (void)state;
    atomic_store(&subject.over, 1);
    pthread_join(scene.thread, NULL);
    mire__sampler_close(&scene.sampler);
    return munmap(scene.check.box, sizeof(*scene.check.box));
}

/* A sample of the thread in the sleep of this round. */
static void take_in_round(struct sample *out, uint32_t round)
{
    for (;;) {
        while (atomic_load(&subject.rounds) < round)
            usleep(100);
        if (mire__sampler_take_asleep(out, &scene.sampler, subject.tid, NULL) && out->syscall != -1 &&
            out->state == 'S')
            return;
    }
}

static enum loop_sleep judge(const struct sample *sample)
{
    return mire__loop_judge(&scene.loop, &scene.check, 0, &scene.view, sample);
}

static void await_round(uint32_t round)
{
    while (atomic_load(&subject.rounds) < round)
        usleep(100);
}

/* The check thread may be slow: the sampled sleep is over, and the thread has worked, before the verdict is given. */
static void a_verdict_that_comes_late_takes_one_sleep_for_one(void **state)
{
    struct sample first, second;
    uint32_t round;

    (void)state;
    skip_if_proc_is_an_emulators();
    do {
        round = atomic_load(&subject.rounds);
        scene.loop.sleep = 0;
        take_in_round(&first, round);
        assert_int_equal(judge(&first), LOOP_ONCE);
        take_in_round(&second, round);
    } while (atomic_load(&subject.rounds) != round); /* a busy machine: the second one is of the next sleep */
    await_round(round + 1);
    assert_int_equal(judge(&second), LOOP_ONCE);
}

static void the_second_sleep_there_is_the_loops(void **state)
{
    struct sample sample;
    uint32_t round;

    (void)state;
    skip_if_proc_is_an_emulators();
    round = atomic_load(&subject.rounds);
    take_in_round(&sample, round);
    assert_int_equal(judge(&sample), LOOP_ONCE);
    await_round(atomic_load(&subject.rounds) + 1);
    take_in_round(&sample, round + 1);
    assert_int_equal(judge(&sample), LOOP_WAITED);
    take_in_round(&sample, round + 1);
    assert_int_equal(judge(&sample), LOOP_WAITS);
}

/* Nothing is known of the wait before: it was too short for its stack to be taken. */
static void the_third_sleep_of_one_stack_is_the_loops_if_its_frame_is_unknown(void **state)
{
    struct sample sample;
    uint32_t round = 0;

    (void)state;
    skip_if_proc_is_an_emulators();
    scene.view.wait.from = 0;
    for (int sleeps = 0; sleeps < 3; sleeps++) {
        await_round(round);
        take_in_round(&sample, round);
        round = atomic_load(&subject.rounds) + 1;
        if (sample.flags & MIRE_SAMPLE_BROKEN)
            skip();
        assert_int_equal(judge(&sample), sleeps < 2 ? LOOP_ONCE : LOOP_WAITED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_verdict_that_comes_late_takes_one_sleep_for_one, begin, end),
        cmocka_unit_test_setup_teardown(the_second_sleep_there_is_the_loops, begin, end),
        cmocka_unit_test_setup_teardown(the_third_sleep_of_one_stack_is_the_loops_if_its_frame_is_unknown, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
