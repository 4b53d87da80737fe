/* test_waits.c - waits that the sampler's signal cuts short: the thread came to them just after it was seen running. */
#include "capture/handler.h"
#include "capture/sampler.h"
#include "platform/platform.h"

#include <gnu/libc-version.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

static struct sampler sampler;

enum wait {
    WAIT_NANOSLEEP,
    WAIT_USLEEP,
    WAIT_CLOCK,
#ifdef __x86_64__
    WAIT_UNTIL,
    WAIT_POLL,
    WAIT_PPOLL,
    WAIT_SELECT,
    WAIT_PSELECT,
    WAIT_EPOLL,
    WAIT_EPOLL_MASK,
#endif
    WAIT_COUNT
};

#define WAIT_NS 300000000

static struct {
    enum wait how;
    int epoll, result;
    uint64_t waited_ns;
    _Atomic uint32_t tid;
    _Atomic uint32_t other_came;
} waiter;

static int wait_so(enum wait how)
{
    struct timespec time = {0, WAIT_NS};
#ifdef __x86_64__
    struct timespec until;
    struct timeval time_us = {0, WAIT_NS / 1000};
    struct epoll_event event;
    sigset_t none;

    sigemptyset(&none);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
#endif
    switch (how) {
    case WAIT_USLEEP:
        return usleep(WAIT_NS / 1000);
    case WAIT_CLOCK:
        return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
#ifdef __x86_64__
    case WAIT_UNTIL:
        return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    case WAIT_POLL:
        return poll(NULL, 0, WAIT_NS / 1000000);
    case WAIT_PPOLL:
        return ppoll(NULL, 0, &time, &none);
    case WAIT_SELECT:
        return select(0, NULL, NULL, NULL, &time_us);
    case WAIT_PSELECT:
        return pselect(0, NULL, NULL, NULL, &time, &none);
    case WAIT_EPOLL:
        return epoll_wait(waiter.epoll, &event, 1, WAIT_NS / 1000000);
    case WAIT_EPOLL_MASK:
        return epoll_pwait(waiter.epoll, &event, 1, WAIT_NS / 1000000, &none);
#endif
    default:
        return nanosleep(&time, NULL);
    }
}

static void *be_waiter(void *unused)
{
    uint64_t begin_ns = mire__now_ns();

    atomic_store(&waiter.tid, mire__tid());
    waiter.result = wait_so(waiter.how);
    waiter.waited_ns = mire__now_ns() - begin_ns;
    return unused;
}

static void note_other(int signal)
{
    (void)signal;
    atomic_store(&waiter.other_came, 1);
}

/*
 * A thread waits, and gets the sampler's signal meanwhile.
 *   other  a signal of the app's that comes together with it; 0: none
 */
static void cut_short(enum wait how, int other)
{
    struct sched_param none = {0};
    pthread_t thread;
    cpu_set_t one;

    memset(&sampler, 0, sizeof(sampler));
    atomic_store(&waiter.tid, 0);
    atomic_store(&waiter.other_came, 0);
    waiter.how = how;
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    assert_int_equal(pthread_create(&thread, NULL, be_waiter, NULL), 0);
    assert_int_equal(pthread_setschedparam(thread, SCHED_IDLE, &none), 0); /* it sees both signals at once */
    while (!atomic_load(&waiter.tid))
        usleep(100);
    usleep(WAIT_NS / 3 / 1000);
    atomic_store(&sampler.request, MIRE_REQUEST(MIRE_REQUEST_WANTED, waiter.tid));
    assert_true(mire__thread_signal(waiter.tid, sampler.signal));
    if (other)
        mire__thread_signal(waiter.tid, other);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&sampler.request), MIRE_REQUEST(MIRE_REQUEST_DONE, waiter.tid));
    mire__sampler_close(&sampler);
}

static void skip_where_waits_are_cut(void)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* this sanitizer's handlers get a copy of the registers */
#endif
#ifdef __x86_64__
    if (strverscmp(gnu_get_libc_version(), "2.41") >= 0) {
        print_message("skipped: this libc makes system calls by numbers that cannot be found again\n");
        skip();
    }
#endif
}

static void a_wait_goes_on_behind_the_signal(void **state)
{
    (void)state;
    skip_where_waits_are_cut();
    waiter.epoll = epoll_create1(EPOLL_CLOEXEC);
    for (enum wait how = 0; how < WAIT_COUNT; how++) {
        cut_short(how, 0);
        if (waiter.result != 0)
            print_message("wait %d\n", (int)how);
        assert_int_equal(waiter.result, 0);
        assert_true(waiter.waited_ns >= WAIT_NS);
    }
    close(waiter.epoll);
}

static void a_wait_that_a_handler_of_the_app_ends_is_ended(void **state)
{
    static const int others[] = {SIGUSR1, SIGWINCH}; /* comes in before SIGURG, after it */
    struct sigaction action = {.sa_handler = note_other};

    (void)state;
    skip_where_waits_are_cut();
    for (size_t i = 0; i < MIRE_COUNT(others); i++) {
        sigaction(others[i], &action, NULL);
        cut_short(WAIT_NANOSLEEP, others[i]);
        signal(others[i], SIG_DFL);
        assert_true(atomic_load(&waiter.other_came));
        assert_int_equal(waiter.result, -1);
        assert_true(waiter.waited_ns < WAIT_NS);
    }
}

static void be_busy(int signal)
{
    uint64_t end_ns = mire__now_ns() + 30000000;

    note_other(signal);
    while (mire__now_ns() < end_ns)
        ;
}

/* The app's handler blocks ours while it runs: the signal comes where that one returns to, behind the call that it cut.
 */
static void a_wait_is_ended_though_the_handler_was_sampled(void **state)
{
    struct sigaction action = {.sa_handler = be_busy};
    struct sample sample;
    pthread_t thread;

    (void)state;
    skip_where_waits_are_cut();
    skip_if_proc_is_an_emulators();
    memset(&sampler, 0, sizeof(sampler));
    memset(&waiter, 0, sizeof(waiter));
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    assert_int_equal(pthread_create(&thread, NULL, be_waiter, NULL), 0);
    while (!atomic_load(&waiter.tid))
        usleep(100);
    usleep(WAIT_NS / 3 / 1000);
    pthread_kill(thread, SIGUSR1);
    while (!atomic_load(&waiter.other_came))
        ;
    while (!mire__thread_is_gone(waiter.tid)) {
        mire__sampler_take(&sample, &sampler, waiter.tid, NULL);
        usleep(100);
    }
    pthread_join(thread, NULL);
    mire__sampler_close(&sampler);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(waiter.result, -1);
    assert_true(waiter.waited_ns < WAIT_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_goes_on_behind_the_signal),
        cmocka_unit_test(a_wait_that_a_handler_of_the_app_ends_is_ended),
        cmocka_unit_test(a_wait_is_ended_though_the_handler_was_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
