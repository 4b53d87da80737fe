/* test_lock.c - finds the thread that holds a lock another one waits for. */
#include "capture/lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static FILE *file;
static pthread_t joined;
static _Atomic uint32_t waiter_tid, other_tid, stop;

/* A way of waiting, and its end; all on thread `waiter`. */
struct wait {
    void (*hold)(void); /* on the test's thread */
    void (*wait)(void);
    void (*let_go)(void);
};

static void *be_waiter(void *argument)
{
    const struct wait *wait = argument;

    atomic_store(&waiter_tid, mire__tid());
    wait->wait();
    return NULL;
}

/* The lock found from the state of the sleeping waiter. */
static void find_in(struct lock *out, const struct wait *wait)
{
    struct thread_state state = {0};
    pthread_t thread;

    skip_if_proc_is_an_emulators();
    atomic_store(&waiter_tid, 0);
    wait->hold();
    assert_int_equal(pthread_create(&thread, NULL, be_waiter, (void *)(uintptr_t)wait), 0);
    for (int i = 0; i < 2000; i++) {
        usleep(1000);
        mire__thread_state(&state, atomic_load(&waiter_tid));
        if (state.blocked && state.syscall == SYS_futex)
            break;
    }
    assert_int_equal(state.syscall, SYS_futex);
    mire__lock_find(out, &state);
    wait->let_go();
    pthread_join(thread, NULL);
}

static void lock_mutex(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock_mutex(void)
{
    pthread_mutex_unlock(&mutex);
}

static void pass_mutex(void)
{
    lock_mutex();
    unlock_mutex();
}

static void expect_mutex_of_kind(int type, int protocol, int robust)
{
    static const struct wait wait = {lock_mutex, pass_mutex, unlock_mutex};
    pthread_mutexattr_t attributes;
    struct lock lock;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    assert_int_equal(pthread_mutex_init(&mutex, &attributes), 0);
    find_in(&lock, &wait);
    assert_int_equal(lock.kind, MIRE_LOCK_MUTEX);
    assert_int_equal(lock.holder, mire__tid());
    assert_true(lock.address == (uintptr_t)&mutex);
    pthread_mutex_destroy(&mutex);
}

static void a_mutex_tells_its_holder(void **state)
{
    (void)state;

    expect_mutex_of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    expect_mutex_of_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    expect_mutex_of_kind(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    expect_mutex_of_kind(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

static void the_kernels_protocols_tell_the_holder(void **state)
{
    (void)state;

    expect_mutex_of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    expect_mutex_of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    expect_mutex_of_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST);
}

static void write_lock(void)
{
    pthread_rwlock_wrlock(&rwlock);
}

static void read_lock(void)
{
    pthread_rwlock_rdlock(&rwlock);
}

static void unlock_rwlock(void)
{
    pthread_rwlock_unlock(&rwlock);
}

static void pass_to_read(void)
{
    read_lock();
    unlock_rwlock();
}

static void pass_to_write(void)
{
    write_lock();
    unlock_rwlock();
}

static void a_writer_of_a_rwlock_is_told_readers_are_not(void **state)
{
    (void)state;
    static const struct wait read_behind_writer = {write_lock, pass_to_read, unlock_rwlock},
                             write_behind_writer = {write_lock, pass_to_write, unlock_rwlock},
                             write_behind_reader = {read_lock, pass_to_write, unlock_rwlock};
    struct lock lock;

    find_in(&lock, &read_behind_writer);
    assert_int_equal(lock.kind, MIRE_LOCK_RWLOCK);
    assert_int_equal(lock.holder, mire__tid());
    find_in(&lock, &write_behind_writer);
    assert_int_equal(lock.kind, MIRE_LOCK_RWLOCK);
    assert_int_equal(lock.holder, mire__tid());
    find_in(&lock, &write_behind_reader);
    assert_int_equal(lock.kind, MIRE_LOCK_NO_OWNER);
    assert_int_equal(lock.holder, 0);
}

static void lock_file(void)
{
    flockfile(file);
}

static void unlock_file(void)
{
    funlockfile(file);
}

static void write_to_file(void)
{
    fputs("x", file);
}

static void a_files_lock_tells_its_holder(void **state)
{
    (void)state;
    static const struct wait wait = {lock_file, write_to_file, unlock_file};
    struct lock lock;

    file = fopen("/dev/null", "w");
    assert_non_null(file);
    find_in(&lock, &wait);
    fclose(file);
    assert_int_equal(lock.kind, MIRE_LOCK_FILE);
    assert_int_equal(lock.holder, mire__tid());
}

static void *wait_for_stop(void *unused)
{
    atomic_store(&other_tid, mire__tid());
    while (!atomic_load(&stop))
        usleep(1000);
    return unused;
}

static void start_other(void)
{
    atomic_store(&stop, 0);
    atomic_store(&other_tid, 0);
    assert_int_equal(pthread_create(&joined, NULL, wait_for_stop, NULL), 0);
    while (!atomic_load(&other_tid))
        usleep(1000);
}

static void join_other(void)
{
    pthread_join(joined, NULL);
}

static void stop_other(void)
{
    atomic_store(&stop, 1);
}

static void a_join_waits_for_its_thread(void **state)
{
    (void)state;
    static const struct wait wait = {start_other, join_other, stop_other};
    struct lock lock;

    find_in(&lock, &wait);
    assert_int_equal(lock.kind, MIRE_LOCK_JOIN);
    assert_int_equal(lock.holder, atomic_load(&other_tid));
}

static void reset(void)
{
    atomic_store(&stop, 0);
    pthread_mutex_init(&mutex, NULL);
    sem_init(&semaphore, 0, 0);
}

static void wait_for_condition(void)
{
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&stop))
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void signal_condition(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&stop, 1);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static void wait_for_semaphore(void)
{
    sem_wait(&semaphore);
}

static void post_semaphore(void)
{
    sem_post(&semaphore);
}

static void conditions_and_semaphores_are_held_by_nobody(void **state)
{
    (void)state;
    static const struct wait on_condition = {reset, wait_for_condition, signal_condition},
                             on_semaphore = {reset, wait_for_semaphore, post_semaphore};
    struct lock lock;

    find_in(&lock, &on_condition);
    assert_int_equal(lock.kind, MIRE_LOCK_EVENT);
    find_in(&lock, &on_semaphore);
    assert_int_equal(lock.kind, MIRE_LOCK_EVENT);
}

/* A lock of another library, among other words: 2 while it is held and waited for, as in glibc. */
static uint32_t own_lock[8];

static void take_own_lock(void)
{
    memset(own_lock, 0, sizeof(own_lock));
    own_lock[0] = 2;
    own_lock[2] = 0x3ffffe; /* where glibc keeps the holder: no thread of ours has this number */
    own_lock[3] = 1;
}

static void wait_for_own_lock(void)
{
    syscall(SYS_futex, own_lock, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0);
}

static void release_own_lock(void)
{
    own_lock[0] = 0;
    syscall(SYS_futex, own_lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void a_lock_without_a_holders_name_is_untold(void **state)
{
    (void)state;
    static const struct wait wait = {take_own_lock, wait_for_own_lock, release_own_lock};
    struct lock lock;

    find_in(&lock, &wait);
    assert_int_equal(lock.kind, MIRE_LOCK_NO_OWNER);
    assert_int_equal(lock.holder, 0);
    assert_true(lock.address == (uintptr_t)own_lock);
}

static void a_thread_that_waits_for_no_futex_has_no_lock(void **state)
{
    (void)state;
    struct thread_state state_of = {.blocked = true, .syscall = SYS_nanosleep, .args = {(uintptr_t)&mutex, 0, 2}};
    struct lock lock;

    mire__lock_find(&lock, &state_of);
    assert_int_equal(lock.kind, MIRE_LOCK_NONE);
    state_of.syscall = SYS_futex;
    state_of.args[1] = FUTEX_WAKE;
    mire__lock_find(&lock, &state_of);
    assert_int_equal(lock.kind, MIRE_LOCK_NONE);
    state_of.args[0] = 16; /* memory that is not there */
    state_of.args[1] = FUTEX_WAIT;
    mire__lock_find(&lock, &state_of);
    assert_int_equal(lock.kind, MIRE_LOCK_NO_OWNER);
    assert_int_equal(lock.holder, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutex_tells_its_holder),
        cmocka_unit_test(the_kernels_protocols_tell_the_holder),
        cmocka_unit_test(a_writer_of_a_rwlock_is_told_readers_are_not),
        cmocka_unit_test(a_files_lock_tells_its_holder),
        cmocka_unit_test(a_join_waits_for_its_thread),
        cmocka_unit_test(conditions_and_semaphores_are_held_by_nobody),
        cmocka_unit_test(a_lock_without_a_holders_name_is_untold),
        cmocka_unit_test(a_thread_that_waits_for_no_futex_has_no_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
