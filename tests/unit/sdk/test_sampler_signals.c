/* test_sampler_signals.c - the sampling signal: blocked, ignored, used by the program, invisible to the program. */
#include "capture/sampler.h"
#include "capture/signal.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/subject.h"

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

/* All signal actions visible to the program. */
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

/* A spinning thread, and its samples. */
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

/* As when the thread blocks signals just after it was checked. */
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

/* The system refuses to send libc's own signal: another one is used, as long as the program does not use it. */
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

/* libc's signal reaches libc's handler, whether that was installed before ours or after it. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_blocks_every_signal_answers),
        cmocka_unit_test(what_cannot_be_asked_is_left_alone),
        cmocka_unit_test(a_thread_that_has_ended_is_said_to),
        cmocka_unit_test(the_program_sees_no_signal_taken),
        cmocka_unit_test(a_signal_that_was_not_answered_is_taken_back),
        cmocka_unit_test(a_signal_that_the_program_takes_is_changed_for_another),
        cmocka_unit_test(threads_are_cancelled_while_others_are_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
