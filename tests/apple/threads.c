/* threads.c - see machine.h: clocks and threads. The numbers and offsets are those of Apple's headers. */
#include "apple/machine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SUCCESS          0
#define INVALID_ARGUMENT 4
#define TIMED_OUT        49
#define NS_PER_S         1000000000ull

/* ---- clocks ---- */

static uint64_t fake_clock(int clock)
{
    static const clockid_t clocks[] = {
        [0] = CLOCK_REALTIME,          [4] = CLOCK_BOOTTIME,  [6] = CLOCK_BOOTTIME,
        [8] = CLOCK_MONOTONIC,         [9] = CLOCK_MONOTONIC, [12] = CLOCK_PROCESS_CPUTIME_ID,
        [16] = CLOCK_THREAD_CPUTIME_ID};
    struct timespec now;

    clock_gettime(clocks[clock], &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t fake_absolute_time(void)
{
    return fake_clock(8);
}

/* ---- threads: each has a row until it ends ---- */

#define THREADS_MAX 1024

static struct thread {
    pthread_t thread;
    _Atomic uint32_t tid; /* 0: free */
    void *(*run)(void *);
    void *argument;
} threads[THREADS_MAX];

static uint32_t own_tid(void)
{
    static _Thread_local uint32_t tid;

    return tid ? tid : (tid = (uint32_t)syscall(SYS_gettid));
}

static struct thread *find_thread(pthread_t thread, uint32_t tid)
{
    for (size_t i = 0; i < THREADS_MAX; i++)
        if (threads[i].tid > 1 && (tid ? threads[i].tid == tid : pthread_equal(threads[i].thread, thread)))
            return &threads[i];
    return NULL;
}

static struct thread *new_thread(void)
{
    for (size_t i = 0; i < THREADS_MAX; i++) {
        uint32_t none = 0;

        if (atomic_compare_exchange_strong(&threads[i].tid, &none, 1))
            return &threads[i];
    }
    abort();
}

__attribute__((constructor)) static void note_first(void)
{
    struct thread *first = new_thread();

    first->thread = pthread_self();
    first->tid = own_tid();
}

static void end_thread(void *row)
{
    ((struct thread *)row)->tid = 0;
}

static void *run_thread(void *context)
{
    struct thread *row = context;
    void *result;

    row->thread = pthread_self();
    row->tid = own_tid();
    pthread_cleanup_push(end_thread, row);
    result = row->run(row->argument);
    pthread_cleanup_pop(1);
    return result;
}

static int fake_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    struct thread *row = new_thread();
    int result;

    row->run = run;
    row->argument = argument;
    result = pthread_create(out, attributes, run_thread, row);
    if (result != 0)
        row->tid = 0;
    while (result == 0 && row->tid == 1)
        sched_yield();
    return result;
}

static uint32_t fake_mach_thread(pthread_t thread)
{
    const struct thread *row = pthread_equal(thread, pthread_self()) ? NULL : find_thread(thread, 0);

    return row ? row->tid : own_tid();
}

static pthread_t fake_from_mach(uint32_t tid)
{
    const struct thread *row = find_thread(0, tid);

    return row ? row->thread : 0;
}

static int fake_kill(pthread_t thread, int signal)
{
    if (!pthread_equal(thread, pthread_self()) && !find_thread(thread, 0))
        return ESRCH;
    return signal == 0 ? 0 : signal == SIGABRT ? pthread_kill(thread, signal) : ENOTSUP;
}

static int fake_setname(const char *name)
{
    return pthread_setname_np(pthread_self(), name);
}

static void stack_of_self(char **start, size_t *size)
{
    static _Thread_local char *at;
    static _Thread_local size_t bytes;
    pthread_attr_t attributes;

    if (!at && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, (void **)&at, &bytes);
        pthread_attr_destroy(&attributes);
    }
    *start = at;
    *size = bytes;
}

static void *fake_stack_address(pthread_t thread)
{
    char *start;
    size_t size;

    (void)thread;
    stack_of_self(&start, &size);
    return start + size;
}

static size_t fake_stack_size(pthread_t thread)
{
    char *start;
    size_t size;

    (void)thread;
    stack_of_self(&start, &size);
    return size;
}

/* Mutexes are few and never held together: one serves as all. */
static pthread_mutex_t only_mutex = PTHREAD_MUTEX_INITIALIZER;

static int fake_mutex_lock(void *mutex)
{
    (void)mutex;
    return pthread_mutex_lock(&only_mutex);
}

static int fake_mutex_unlock(void *mutex)
{
    (void)mutex;
    return pthread_mutex_unlock(&only_mutex);
}

/* pthread_once_t: a word that is not 0 before, and 8 bytes of its own. */
static int fake_once(uint64_t once[2], void (*run)(void))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!once[1])
        run();
    once[1] = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int fake_key_create(unsigned long *out, void (*destroy)(void *))
{
    pthread_key_t key;
    int result = pthread_key_create(&key, destroy);

    *out = key;
    return result;
}

static sem_t semaphores[256];
static _Atomic uint32_t semaphores_count = 1;

static int fake_semaphore_create(uint32_t task, uint32_t *out, int policy, int value)
{
    (void)task;
    (void)policy;
    *out = semaphores_count++;
    return sem_init(&semaphores[*out], 0, (unsigned)value);
}

static int fake_semaphore_signal(uint32_t semaphore)
{
    return sem_post(&semaphores[semaphore]);
}

static int fake_semaphore_wait(uint32_t semaphore)
{
    return sem_wait(&semaphores[semaphore]) == 0 ? SUCCESS : 14;
}

/* mach_timespec_t: seconds and nanoseconds in one register */
static int fake_semaphore_timedwait(uint32_t semaphore, uint64_t time)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(uint32_t)time;
    end.tv_nsec += (long)(time >> 32);
    end.tv_sec += end.tv_nsec >= (long)NS_PER_S;
    end.tv_nsec %= (long)NS_PER_S;
    return sem_timedwait(&semaphores[semaphore], &end) == 0 ? SUCCESS : TIMED_OUT;
}

static int fake_task_threads(uint32_t task, uint32_t **out, uint32_t *count)
{
    (void)task;
    *out = mmap(NULL, MACHINE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *count = 0;
    for (size_t i = 0; i < THREADS_MAX && *count < MACHINE_PAGE / sizeof(**out); i++)
        if (threads[i].tid > 1)
            (*out)[(*count)++] = threads[i].tid;
    return SUCCESS;
}

/* thread_basic_info and thread_extended_info */
static int fake_thread_info(uint32_t tid, uint32_t flavor, char *out, uint32_t *count)
{
    if (!find_thread(0, tid))
        return INVALID_ARGUMENT;
    memset(out, 0, *count * 4);
    if (flavor == 3)
        MACHINE_PUT(out, 24, int32_t, 1); /* it runs */
    else
        snprintf(out + 48, 18, "thread");
    return SUCCESS;
}

void *threads_find(const char *name)
{
    static const struct machine_name names[] = {
        {"_clock_gettime_nsec_np", (void *)fake_clock},
        {"_mach_absolute_time", (void *)fake_absolute_time},
        {"_pthread_create", (void *)fake_create},
        {"_pthread_mach_thread_np", (void *)fake_mach_thread},
        {"_pthread_from_mach_thread_np", (void *)fake_from_mach},
        {"_pthread_kill", (void *)fake_kill},
        {"_pthread_setname_np", (void *)fake_setname},
        {"_pthread_get_stackaddr_np", (void *)fake_stack_address},
        {"_pthread_get_stacksize_np", (void *)fake_stack_size},
        {"_pthread_mutex_lock", (void *)fake_mutex_lock},
        {"_pthread_mutex_unlock", (void *)fake_mutex_unlock},
        {"_pthread_once", (void *)fake_once},
        {"_pthread_key_create", (void *)fake_key_create},
        {"_semaphore_create", (void *)fake_semaphore_create},
        {"_semaphore_signal", (void *)fake_semaphore_signal},
        {"_semaphore_wait", (void *)fake_semaphore_wait},
        {"_semaphore_timedwait", (void *)fake_semaphore_timedwait},
        {"_swtch_pri", (void *)sched_yield},
        {"_task_threads", (void *)fake_task_threads},
        {"_thread_info", (void *)fake_thread_info},
    };

    return machine_find(names, MACHINE_COUNT(names), name);
}
