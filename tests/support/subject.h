/*
 * subject.h - a thread at a known position in this process, and samples of it. For one test program.
 */
#ifndef TESTS_SUPPORT_SUBJECT_H
#define TESTS_SUPPORT_SUBJECT_H

#include "capture/sampler.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    uint64_t left_pending; /* pending signals, one bit each */
} subject;

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

#define STAY         __attribute__((noinline))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* prevents a tail call */

/* Exported, so that dladdr finds their names. */
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

/* Cycles of two and of three functions. */
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

/* By the system call itself: libc's function excludes a signal of its own. */
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

/* The child runs on this stack while the thread waits for its end. */
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

/* Sample again while the thread gets no processor on a busy machine. */
static inline void take_answered(struct sample *out, struct sampler *from, uint32_t tid)
{
    do
        mire__sampler_take(out, from, tid, NULL);
    while (out->loss == MIRE_LOSS_UNANSWERED);
}

/* Wait until the thread has reached its place: asleep, or computing. */
static inline void await_place(enum place place)
{
    const bool sleeps = place == PLACE_SLEEP || place == PLACE_ASLEEP || place == PLACE_LOCK;
    struct thread_state now = {0};

    while (!atomic_load(&subject.tid))
        usleep(100);
    usleep(20000);
    while (sleeps && mire__thread_states_hold() && !now.blocked) {
        mire__thread_state(&now, atomic_load(&subject.tid));
        usleep(1000);
    }
}

/* Take one sample of a thread in `place`. */
static inline void sample_at(struct sample *out, enum place place)
{
    pthread_t thread;

    memset(&subject, 0, sizeof(subject));
    memset(&sampler, 0, sizeof(sampler));
    subject.place = place;
    pthread_mutex_lock(&held);
    assert_int_equal(pthread_create(&thread, NULL, be_subject, NULL), 0);
    await_place(place);
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

/* Returns true if the stack contains these functions, in this order. */
static inline bool runs_through(const struct sample *sample, const char *const names[], size_t count)
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

#endif
