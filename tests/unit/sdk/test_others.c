/* test_others.c - the other threads that explain a hang. */
#include "capture/others.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

#define STAY         __attribute__((noinline))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* no tail call */
#define LANE         3

/* A chain of three threads: the first waits for a lock of the second, which waits for a lock of the third, which
 * computes. */
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t first, second, third, stop;

/* Exported, so that dladdr can name them. */
void hold_and_wait(void);
void hold_and_compute(void);

STAY void hold_and_wait(void)
{
    pthread_mutex_lock(&first_lock);
    atomic_store(&second, mire__tid());
    pthread_mutex_lock(&second_lock);
    pthread_mutex_unlock(&second_lock);
    pthread_mutex_unlock(&first_lock);
    KEEP_FRAME();
}

STAY void hold_and_compute(void)
{
    pthread_mutex_lock(&second_lock);
    atomic_store(&third, mire__tid());
    while (!atomic_load(&stop))
        ;
    pthread_mutex_unlock(&second_lock);
    KEEP_FRAME();
}

static void *be_first(void *unused)
{
    atomic_store(&first, mire__tid());
    pthread_mutex_lock(&first_lock);
    pthread_mutex_unlock(&first_lock);
    return unused;
}

static void *be_second(void *unused)
{
    hold_and_wait();
    return unused;
}

static void *be_third(void *unused)
{
    pthread_setname_np(pthread_self(), "computing");
    hold_and_compute();
    return unused;
}

static struct sampler sampler;
static struct other_threads others;
static struct blackbox *box;
static struct event hang;

static int open_all(void **state)
{
    (void)state;
    memset(&sampler, 0, sizeof(sampler));
    memset(&hang, 0, sizeof(hang));
    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return box == MAP_FAILED || mire__sampler_open(&sampler) != MIRE_OK;
}

static int close_all(void **state)
{
    (void)state;
    mire__sampler_close(&sampler);
    return munmap(box, sizeof(*box));
}

static void start(pthread_t *thread, void *(*be)(void *), const _Atomic uint32_t *tid)
{
    assert_int_equal(pthread_create(thread, NULL, be, NULL), 0);
    while (!atomic_load(tid))
        usleep(1000);
}

/* Wait until the thread sleeps for its lock. */
static void await_sleep(uint32_t tid)
{
    struct thread_state state = {0};

    while (!state.blocked) {
        usleep(1000);
        mire__thread_state(&state, tid);
    }
}

static uint64_t cpu_ns_of(pthread_t thread)
{
    struct timespec used;
    clockid_t clock;

    assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
    assert_int_equal(clock_gettime(clock, &used), 0);
    return (uint64_t)used.tv_sec * MIRE_NS_PER_S + (uint64_t)used.tv_nsec;
}

/* Wait until the thread has computed for a while. */
static void await_work(pthread_t thread)
{
    uint64_t end_ns = cpu_ns_of(thread) + 30 * MIRE_NS_PER_MS;

    while (cpu_ns_of(thread) < end_ns)
        usleep(1000);
}

static const struct other *find(uint32_t tid, enum mire__role role)
{
    for (uint32_t i = 0; i < mire__blackbox_other_count(box, LANE); i++) {
        const struct other *other = &box->lanes[LANE].others[i];

        if (other->tid == tid && other->role == (uint32_t)role)
            return other;
    }
    return NULL;
}

static bool runs_through(const struct sample *sample, const char *name)
{
    Dl_info info;

    for (uint32_t i = 0; i < sample->depth; i++) {
        if (dladdr((void *)(uintptr_t)sample->pc[i], &info) && info.dli_sname && strcmp(info.dli_sname, name) == 0)
            return true;
    }
    return false;
}

static void look(void)
{
    struct sample sample;

    mire__sampler_take(&sample, &sampler, atomic_load(&first), box);
    mire__others_look(&others, &hang);
}

static void holders_are_followed_from_lock_to_lock(void **state)
{
    (void)state;
    pthread_t threads[3];

    skip_if_proc_is_an_emulators();
    atomic_store(&stop, 0);
    start(&threads[2], be_third, &third);
    start(&threads[1], be_second, &second);
    start(&threads[0], be_first, &first);
    await_sleep(atomic_load(&second));
    await_sleep(atomic_load(&first));
    mire__others_begin(&others, &sampler, box, LANE, atomic_load(&first), UINT64_MAX);
    while (mire__blackbox_other_count(box, LANE) < 2) /* a thread that gets no processor does not answer */
        look();
    look(); /* takes no thread twice */
    assert_int_equal(mire__blackbox_other_count(box, LANE), 2);
    assert_true(hang.lock_address == (uintptr_t)&first_lock);
    assert_int_equal(hang.lock_owner, atomic_load(&second));
    assert_non_null(find(atomic_load(&second), MIRE_ROLE_OWNER));
    assert_true(runs_through(&find(atomic_load(&second), MIRE_ROLE_OWNER)->sample, "hold_and_wait"));
    assert_int_equal(find(atomic_load(&second), MIRE_ROLE_OWNER)->sample.flags, MIRE_SAMPLE_BLOCKED);
    assert_non_null(find(atomic_load(&third), MIRE_ROLE_OWNER));
#if !defined(__SANITIZE_THREAD__) /* its runtime runs a handler later than it came, at times from frames of its own */
    assert_true(runs_through(&find(atomic_load(&third), MIRE_ROLE_OWNER)->sample, "hold_and_compute"));
#endif
    assert_string_equal(find(atomic_load(&third), MIRE_ROLE_OWNER)->name, "computing");
    await_work(threads[2]);
    mire__others_end(&others);
    assert_true(find(atomic_load(&third), MIRE_ROLE_OWNER)->cpu_ns > 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void *compute(void *argument)
{
    _Atomic uint32_t *tid = argument;

    atomic_store(tid, mire__tid());
    while (!atomic_load(&stop))
        ;
    return NULL;
}

static void *sleep_until_stop(void *argument)
{
    _Atomic uint32_t *tid = argument;

    atomic_store(tid, mire__tid());
    while (!atomic_load(&stop))
        usleep(10000);
    return NULL;
}

static void *own_compute(void *argument)
{
    pthread_setname_np(pthread_self(), "mire-test");
    setpriority(PRIO_PROCESS, mire__tid(), 10); /* it shall not keep the other from computing */
    return compute(argument);
}

static void start_with(pthread_t *thread, void *(*be)(void *), _Atomic uint32_t *tid)
{
    atomic_store(tid, 0);
    assert_int_equal(pthread_create(thread, NULL, be, tid), 0);
    while (!atomic_load(tid))
        usleep(1000);
}

static void threads_that_compute_are_taken_when_they_are_due(void **state)
{
    (void)state;
    _Atomic uint32_t idle, busy, own;
    pthread_t threads[4];

    atomic_store(&stop, 0);
    start_with(&threads[0], sleep_until_stop, &first);
    start_with(&threads[1], sleep_until_stop, &idle);
    start_with(&threads[2], own_compute, &own);
    mire__others_begin(&others, &sampler, box, LANE, atomic_load(&first), UINT64_MAX);
    start_with(&threads[3], compute, &busy); /* born during the hang */
    look();
    assert_int_equal(mire__blackbox_other_count(box, LANE), 0);
    await_work(threads[3]);
    while (mire__blackbox_other_count(box, LANE) == 0) {
        others.due_ns = 0;
        others.begin_ns = mire__now_ns() - 100 * MIRE_NS_PER_MS; /* a tenth of the hang was computed, at any speed */
        look();
        usleep(10000);
    }
    assert_int_equal(mire__blackbox_other_count(box, LANE), 1);
    assert_non_null(find(atomic_load(&busy), MIRE_ROLE_BUSY));
    assert_true(find(atomic_load(&busy), MIRE_ROLE_BUSY)->cpu_ns > 0);
    assert_true(find(atomic_load(&busy), MIRE_ROLE_BUSY)->sample.depth > 0);
    assert_int_equal(hang.lock_address, 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *lock_twice(void *unused)
{
    pthread_mutex_lock(&first_lock);
    atomic_store(&first, mire__tid());
    pthread_mutex_lock(&first_lock);
    pthread_mutex_unlock(&first_lock);
    return unused;
}

static void a_thread_that_locks_twice_is_its_own_holder(void **state)
{
    (void)state;
    pthread_t thread;

#if defined(__SANITIZE_THREAD__)
    skip(); /* it objects to the unlock below, by whom it is not held */
#endif
    skip_if_proc_is_an_emulators();
    atomic_store(&first, 0);
    start(&thread, lock_twice, &first);
    await_sleep(atomic_load(&first));
    mire__others_begin(&others, &sampler, box, LANE, atomic_load(&first), UINT64_MAX);
    look();
    assert_int_equal(hang.lock_owner, atomic_load(&first));
    assert_int_equal(mire__blackbox_other_count(box, LANE), 0);
    pthread_mutex_unlock(&first_lock); /* releases it, as no program should */
    pthread_join(thread, NULL);
}

static void the_list_is_full_when_it_is_full(void **state)
{
    (void)state;
    pthread_t threads[2];

    atomic_store(&stop, 0);
    start_with(&threads[0], sleep_until_stop, &first);
    start_with(&threads[1], compute, &third);
    mire__others_begin(&others, &sampler, box, LANE, atomic_load(&first), 0);
    for (int more = 3 * MIRE_OTHERS_MAX; more > 0;) { /* full, and then some */
        more -= mire__blackbox_other_count(box, LANE) >= MIRE_OTHERS_MAX / 2;
        others.due_ns = 0;
        others.begin_ns = mire__now_ns();
        usleep(2000);
        look();
    }
    assert_int_equal(mire__blackbox_other_count(box, LANE), MIRE_OTHERS_MAX / 2);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(holders_are_followed_from_lock_to_lock, open_all, close_all),
        cmocka_unit_test_setup_teardown(threads_that_compute_are_taken_when_they_are_due, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_locks_twice_is_its_own_holder, open_all, close_all),
        cmocka_unit_test_setup_teardown(the_list_is_full_when_it_is_full, open_all, close_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
