/*
 * thread_apple.c - threads; see platform.h. Signal-safe: Mach traps, and what libsystem_pthread keeps in the thread itself.
 *
 * A thread's number is the name of its Mach port in this process. Waiting on a word is built on semaphores, which every
 * system has: a waiter takes a row and writes down its word, then looks at it; who wakes stores to the word first, then
 * looks at the rows. So one of the two sees the other. A wake that comes too late makes a later wait return at once,
 * which the contract allows.
 */
#include "platform/platform.h"

#include "platform/own.h"
#include "platform/quiet.h"

#include <errno.h>
#include <mach/mach.h>
#include <mach/semaphore.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define WAITERS_MAX 64

_Atomic uint32_t mire__quiet; /* these systems have no filters that a program sets for itself */

bool mire__quiet_holds(void)
{
    return false;
}

uint32_t mire__pid(void)
{
    return (uint32_t)getpid();
}

uint32_t mire__tid_of_kernel(void)
{
    return pthread_mach_thread_np(pthread_self());
}

uint32_t mire__tid(void)
{
    return mire__tid_of_kernel();
}

/* ---- waiting on a word ---- */

static struct {
    _Atomic uint32_t taken;
    _Atomic(_Atomic uint32_t *) word;
    _Atomic uint32_t semaphore; /* made once; 0: not yet */
} rows[WAITERS_MAX];

static bool make_semaphore(uint32_t row)
{
    semaphore_t made;

    if (atomic_load(&rows[row].semaphore) == 0 &&
        semaphore_create(mach_task_self(), &made, SYNC_POLICY_FIFO, 0) == KERN_SUCCESS)
        atomic_store(&rows[row].semaphore, made);
    return atomic_load(&rows[row].semaphore) != 0;
}

static int take_row(void)
{
    for (uint32_t i = 0; i < WAITERS_MAX; i++) {
        uint32_t nobody = 0;

        if (!atomic_compare_exchange_strong(&rows[i].taken, &nobody, 1))
            continue;
        if (make_semaphore(i))
            return (int)i;
        atomic_store(&rows[i].taken, 0);
    }
    return -1;
}

static mach_timespec_t time_until(uint64_t deadline_ns)
{
    uint64_t left_ns = mire__minus(deadline_ns, mire__now_ns());
    const mach_timespec_t left = {(unsigned)(left_ns / MIRE_NS_PER_S), (clock_res_t)(left_ns % MIRE_NS_PER_S)};

    return left;
}

static void nap(uint64_t ns)
{
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    int saved = errno;

    nanosleep(&time, NULL);
    errno = saved;
}

bool mire__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    int row = take_row();

    if (row < 0) { /* more than WAITERS_MAX threads wait */
        nap(MIRE_NS_PER_MS);
        return true;
    }
    atomic_store(&rows[row].word, word);
    if (atomic_load(word) == expected && deadline_ns == UINT64_MAX)
        semaphore_wait(atomic_load(&rows[row].semaphore));
    else if (atomic_load(word) == expected)
        semaphore_timedwait(atomic_load(&rows[row].semaphore), time_until(deadline_ns));
    atomic_store(&rows[row].word, NULL);
    atomic_store(&rows[row].taken, 0);
    return true;
}

void mire__futex_wake(_Atomic uint32_t *word)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < WAITERS_MAX; i++) {
        if (atomic_load(&rows[i].word) != word)
            continue;
        semaphore_signal(atomic_load(&rows[i].semaphore));
        return;
    }
}

/* There is no such call here. */
void mire__barrier_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    nap(MIRE_NS_PER_MS);
}

/* ---- one thread ---- */

bool mire__thread_signal(uint32_t tid, int signal)
{
    pthread_t thread = pthread_from_mach_thread_np(tid);

    return thread && pthread_kill(thread, signal) == 0;
}

bool mire__thread_has_rights(uint32_t tid)
{
    (void)tid;
    return false;
}

/* Joined threads are gone from the task. */
void mire__thread_await_end(uint32_t tid)
{
    (void)tid;
}

bool mire__thread_may_as_much(uint32_t tid)
{
    (void)tid;
    return true;
}

void mire__thread_signals(struct thread_signals *out, uint32_t tid)
{
    (void)tid;
    *out = (struct thread_signals){0};
}

/* The library keeps both in the thread's own block, which lies above the stack. */
bool mire__thread_own_stack(uint64_t *start_out, uint64_t *end_out)
{
    *end_out = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    *start_out = *end_out - pthread_get_stacksize_np(pthread_self());
    return *start_out < *end_out;
}

uint64_t mire__first_stack_mark(void)
{
    return 0;
}

bool mire__thread_own_name(char out[MIRE_THREAD_NAME_BYTES])
{
    return pthread_getname_np(pthread_self(), out, MIRE_THREAD_NAME_BYTES) == 0;
}

void mire__thread_call_self(const char *name)
{
    pthread_setname_np(name);
}

bool mire__own_has_joined(pthread_t thread)
{
    return pthread_kill(thread, 0) == ESRCH && pthread_join(thread, NULL) == 0;
}

bool mire__thread_attributes(pthread_attr_t *out, size_t stack_bytes)
{
    size_t given = 0;

    if (pthread_attr_init(out) != 0)
        return false;
    if (pthread_attr_getstacksize(out, &given) != 0 || given < stack_bytes)
        pthread_attr_setstacksize(out, stack_bytes);
    return true;
}

/* The kernel keeps no such word. */
void mire__thread_mark_end(_Atomic uint32_t *word)
{
    atomic_store(word, 0);
}

void mire__thread_mark_no_end(void)
{
}

void mire__thread_end_as_first(void)
{
}

void mire__yield(void)
{
    swtch_pri(0);
}

/* ---- random bytes ---- */

void mire__random(void *out, size_t size_bytes)
{
    int saved = errno;

    for (size_t at = 0; at < size_bytes; at += 256) {
        size_t part = size_bytes - at < 256 ? size_bytes - at : 256;

        if (getentropy((char *)out + at, part) != 0)
            memset((char *)out + at, (int)mire__now_ns(), part);
    }
    errno = saved;
}
