/* test_apart.c - file work on a thread of the program, in a descriptor table of its own. */
#include "platform/apart.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

struct errand {
    uint32_t tid, kernels_tid;
    int first, closed;
    bool apart;
    pthread_t self;
    void *block;
};

static _Thread_local int runs; /* of this thread */

static void do_errand(void *context)
{
    struct errand *errand = context;

    runs++;
    errand->tid = mire__tid();
    errand->kernels_tid = (uint32_t)syscall(SYS_gettid);
    errand->apart = mire__apart_is();
    errand->self = pthread_self();
    errand->first = open("/dev/null", O_RDONLY);
    errand->closed = errand->apart && close(0) == 0;
    errand->block = malloc(100);
    errno = EXDEV;
}

static void *go_on(void *context)
{
    return context;
}

/* glibc knows of one more thread from here on. */
static void stop_being_alone(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, go_on, NULL), 0);
    pthread_join(thread, NULL);
}

static void work_runs_where_it_is_until_somebody_asks(void **state)
{
    struct errand errand = {0};

    (void)state;
    stop_being_alone();
    mire__apart_run(do_errand, &errand);
    free(errand.block);
    assert_int_equal(errand.kernels_tid, syscall(SYS_gettid));
    assert_false(errand.apart);
    assert_int_equal(close(errand.first), 0);
}

static void work_has_descriptors_of_its_own(void **state)
{
    struct errand errand = {0};
    int before, after;

    (void)state;
    mire__apart_open();
    before = dup(1);
    errno = EILSEQ;
    mire__apart_run(do_errand, &errand);
    assert_int_equal(errno, EILSEQ);
    free(errand.block);
    after = dup(1);
    assert_int_equal(after, before + 1);
    assert_true(fcntl(0, F_GETFD) >= 0);
    close(before);
    close(after);
    if (!errand.apart) { /* an emulator or a sandbox without such threads */
        print_message("runs on the calling thread here\n");
        return;
    }
    assert_int_not_equal(errand.kernels_tid, syscall(SYS_gettid));
    assert_int_equal(errand.first, 0);
    assert_true(errand.closed);
    assert_false(mire__apart_is());
}

static void work_is_done_in_the_callers_name(void **state)
{
    struct errand errand = {0};
    int before = runs;

    (void)state;
    mire__apart_run(do_errand, &errand);
    assert_int_equal(errand.tid, syscall(SYS_gettid));
    assert_int_equal(mire__tid(), syscall(SYS_gettid));
    assert_true(pthread_equal(errand.self, pthread_self()));
    assert_int_equal(runs, before + 1);
    assert_non_null(errand.block);
    free(errand.block);
}

static volatile sig_atomic_t caught;

static void catch (int signal)
{
    caught = signal;
}

static void raise_it(void *context)
{
    *(int *)context = kill(getpid(), SIGUSR1) == 0 && !caught;
}

static void signals_wait_until_it_is_done(void **state)
{
    struct sigaction action = {.sa_handler = catch};
    sigset_t before, after;
    int waited = 0;

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    mire__apart_run(raise_it, &waited);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(waited, 1);
    assert_int_equal(caught, SIGUSR1);
    assert_memory_equal(&before, &after, 8);
}

static void *begin_apart(void *first)
{
    mire__apart_begin();
    *(int *)first = open("/dev/null", O_RDONLY);
    return mire__apart_is() ? first : NULL;
}

static void a_thread_begins_with_no_descriptor(void **state)
{
    pthread_t thread;
    int first = -1;
    void *apart;

    (void)state;
    pthread_create(&thread, NULL, begin_apart, &first);
    pthread_join(thread, &apart);
    if (apart)
        assert_int_equal(first, 0);
    assert_true(fcntl(1, F_GETFD) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_where_it_is_until_somebody_asks), cmocka_unit_test(work_has_descriptors_of_its_own),
        cmocka_unit_test(work_is_done_in_the_callers_name),          cmocka_unit_test(signals_wait_until_it_is_done),
        cmocka_unit_test(a_thread_begins_with_no_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
