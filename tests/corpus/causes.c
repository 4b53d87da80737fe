/*
 * causes.c - the hangs: the work of the main thread until a given time, and the planted functions.
 *
 *     hang                       100 %
 *      |- decoy                   10 % before, 10 % after
 *      `- planted_middle_3        80 %   calls eight leaves in turn
 *          |- leaf_0 ... leaf_7   10 % each
 *      or planted_leaf_3          80 %   works itself
 */
#include "hanger.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 65536u
#define PAGE_BYTES  4096u

static volatile uint64_t sink;
static int data_fd = -1;
static const volatile char *data;
static unsigned char *block;

/* The thread that holds the lock that the main thread waits for. */
static struct {
    pthread_t thread;
    sem_t asked, ready;
    pthread_mutex_t mutex, held;
    pthread_cond_t cond;
    uint64_t until_ns;
    enum cause cause; /* CAUSE_STOP: end */
    uint32_t tid;
    bool signalled;
} holder = {.mutex = PTHREAD_MUTEX_INITIALIZER, .held = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

/* The process that stops this one and continues it, or kills it. */
static struct {
    pid_t pid;
    int pipe;
} stopper;

struct command {
    unsigned length_ms;
    int signal;
};

STAY void hold_the_lock(uint64_t until_ns);
STAY void compute(uint64_t until_ns);
STAY void decoy(uint64_t until_ns);

STAY void hold_the_lock(uint64_t until_ns)
{
    pthread_mutex_lock(&holder.held);
    sem_post(&holder.ready);
    sleep_until_ns(until_ns);
    pthread_mutex_unlock(&holder.held);
    KEEP_FRAME();
}

static void signal_later(uint64_t until_ns)
{
    sem_post(&holder.ready);
    sleep_until_ns(until_ns);
    pthread_mutex_lock(&holder.mutex);
    holder.signalled = true;
    pthread_cond_signal(&holder.cond);
    pthread_mutex_unlock(&holder.mutex);
}

static void *hold(void *unused)
{
    holder.tid = (uint32_t)syscall(SYS_gettid);
    for (;;) {
        while (sem_wait(&holder.asked) != 0)
            ;
        if (holder.cause == CAUSE_STOP)
            return unused;
        if (holder.cause == CAUSE_MUTEX)
            hold_the_lock(holder.until_ns);
        else
            signal_later(holder.until_ns);
    }
}

/* Returns after the holder has begun. */
static void ask_holder(enum cause cause, uint64_t until_ns)
{
    holder.cause = cause;
    holder.until_ns = until_ns;
    holder.signalled = false;
    sem_post(&holder.asked);
    while (cause != CAUSE_STOP && sem_wait(&holder.ready) != 0)
        ;
    if (cause == CAUSE_MUTEX)
        truth_owner(holder.tid);
}

/*
 * Spend the time until `until_ns`. A macro, so that the work is in the planted function itself and its calls are the
 * system's. The first use of `n` keeps equal functions apart.
 */
#define SPEND(n, cause, until_ns)                                                                     \
    do {                                                                                              \
        struct timespec at_ = {(time_t)((until_ns) / 1000000000u), (long)((until_ns) % 1000000000u)}; \
        size_t from_ = (n) * (DATA_BYTES / PLANTED_COUNT);                                            \
                                                                                                      \
        switch (cause) {                                                                              \
        case CAUSE_CPU:                                                                               \
            while (now_ns() < (until_ns))                                                             \
                for (unsigned i_ = 0; i_ < 20000; i_++)                                               \
                    sink = sink * 31 + (n) + i_;                                                      \
            break;                                                                                    \
        case CAUSE_FILE:                                                                              \
            for (size_t at = from_; now_ns() < (until_ns); at = (at + BLOCK_BYTES) % DATA_BYTES) {    \
                posix_fadvise(data_fd, (off_t)at, BLOCK_BYTES, POSIX_FADV_DONTNEED);                  \
                if (pread(data_fd, block, BLOCK_BYTES, (off_t)at) > 0)                                \
                    sink += block[0];                                                                 \
            }                                                                                         \
            break;                                                                                    \
        case CAUSE_SLEEP:                                                                             \
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at_, NULL) != 0)                  \
                truth_cut();                                                                          \
            break;                                                                                    \
        case CAUSE_MUTEX:                                                                             \
            ask_holder(cause, until_ns);                                                              \
            pthread_mutex_lock(&holder.held);                                                         \
            pthread_mutex_unlock(&holder.held);                                                       \
            break;                                                                                    \
        case CAUSE_CONDVAR:                                                                           \
            ask_holder(cause, until_ns);                                                              \
            pthread_mutex_lock(&holder.mutex);                                                        \
            while (!holder.signalled)                                                                 \
                pthread_cond_wait(&holder.cond, &holder.mutex);                                       \
            pthread_mutex_unlock(&holder.mutex);                                                      \
            break;                                                                                    \
        case CAUSE_MIXED:                                                                             \
            while (now_ns() < (until_ns))                                                             \
                churn_once();                                                                         \
            break;                                                                                    \
        default:                                                                                      \
            for (size_t at = from_; now_ns() < (until_ns); at = (at + PAGE_BYTES) % DATA_BYTES) {     \
                if (at % BLOCK_BYTES == 0) {                                                          \
                    madvise((void *)(uintptr_t)(data + at), BLOCK_BYTES, MADV_DONTNEED);              \
                    posix_fadvise(data_fd, (off_t)at, BLOCK_BYTES, POSIX_FADV_DONTNEED);              \
                }                                                                                     \
                sink += (uint64_t)data[at];                                                           \
            }                                                                                         \
        }                                                                                             \
        KEEP_FRAME();                                                                                 \
    } while (0)

#define LEAF(n)                                              \
    STAY void leaf_##n(enum cause cause, uint64_t until_ns); \
    STAY void leaf_##n(enum cause cause, uint64_t until_ns)  \
    {                                                        \
        SPEND(n##u, cause, until_ns);                        \
    }
LEAF(0)
LEAF(1)
LEAF(2)
LEAF(3)
LEAF(4)
LEAF(5)
LEAF(6)
LEAF(7)

typedef void spend_fn(enum cause cause, uint64_t until_ns);
static spend_fn *const leaves[] = {leaf_0, leaf_1, leaf_2, leaf_3, leaf_4, leaf_5, leaf_6, leaf_7};

#define PLANT(n)                                                                       \
    STAY void planted_leaf_##n(enum cause cause, uint64_t until_ns);                   \
    STAY void planted_middle_##n(enum cause cause, uint64_t until_ns);                 \
    STAY void planted_leaf_##n(enum cause cause, uint64_t until_ns)                    \
    {                                                                                  \
        SPEND(n##u, cause, until_ns);                                                  \
        sink += 100 + n##u;                                                            \
    }                                                                                  \
    STAY void planted_middle_##n(enum cause cause, uint64_t until_ns)                  \
    {                                                                                  \
        uint64_t begin_ns = now_ns(), each_ns = (until_ns - begin_ns) / PLANTED_COUNT; \
                                                                                       \
        for (unsigned i = 0; i < PLANTED_COUNT; i++)                                   \
            leaves[(i + n##u) % PLANTED_COUNT](cause, begin_ns + (i + 1) * each_ns);   \
        sink += n##u;                                                                  \
    }
PLANT(0)
PLANT(1)
PLANT(2)
PLANT(3)
PLANT(4)
PLANT(5)
PLANT(6)
PLANT(7)

static spend_fn *const middles[] = {planted_middle_0, planted_middle_1, planted_middle_2, planted_middle_3,
                                    planted_middle_4, planted_middle_5, planted_middle_6, planted_middle_7};
static spend_fn *const planted[] = {planted_leaf_0, planted_leaf_1, planted_leaf_2, planted_leaf_3,
                                    planted_leaf_4, planted_leaf_5, planted_leaf_6, planted_leaf_7};

STAY void decoy(uint64_t until_ns)
{
    while (now_ns() < until_ns)
        for (unsigned i = 0; i < 20000; i++)
            sink = sink * 33 + i;
}

/* Compute for so much processor time; time while stopped does not count. */
STAY void compute(uint64_t cpu_ns)
{
    struct timespec now, begin;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (unsigned i = 0; i < 20000; i++)
            sink = sink * 35 + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((uint64_t)(now.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)(now.tv_nsec - begin.tv_nsec) < cpu_ns);
}

static void command(unsigned length_ms, int signal)
{
    struct command command = {length_ms, signal};

    if (write(stopper.pipe, &command, sizeof(command)) != sizeof(command))
        abort();
}

static void stop(const struct step *step)
{
    command(step->length_ms, SIGSTOP);
    if (step->place == PLACE_BUSY)
        compute(60000000u);
    else if (step->place == PLACE_HANG)
        compute(step->length_ms * 1000000ull);
}

static void be_killed(const struct step *step)
{
    if (!truth_write_open())
        abort();
    command(step->length_ms, SIGKILL);
    (step->place == PLACE_MIDDLE ? middles : planted)[step->number](CAUSE_CPU, now_ns() + 60000000000u);
}

void hang(const struct step *step)
{
    uint64_t begin_ns = now_ns(), length_ns = step->length_ms * 1000000ull;

    if (step->cause == CAUSE_STOP) {
        stop(step);
        return;
    }
    if (step->cause == CAUSE_KILL)
        be_killed(step);
    decoy(begin_ns + length_ns / 10);
    (step->place == PLACE_MIDDLE ? middles : planted)[step->number](step->cause, begin_ns + length_ns / 10 * 9);
    decoy(begin_ns + length_ns);
    KEEP_FRAME();
}

/* mire-run stops with its program and must be continued with it, hence the second process. */
static void be_stopper(int commands, pid_t program, pid_t parent)
{
    struct command command;

    while (read(commands, &command, sizeof(command)) == sizeof(command)) {
        usleep(command.signal == SIGKILL ? command.length_ms * 1000 : 20000);
        if (command.signal == SIGKILL)
            truth_killed();
        kill(program, command.signal);
        usleep(command.length_ms * 1000);
        kill(parent, SIGCONT);
        kill(program, SIGCONT);
    }
    _exit(0);
}

static bool start_stopper(void)
{
    pid_t program = getpid(), parent = getppid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    stopper.pid = fork();
    if (stopper.pid == 0) {
        close(ends[1]);
        be_stopper(ends[0], program, parent);
    }
    close(ends[0]);
    stopper.pipe = ends[1];
    return stopper.pid > 0;
}

bool causes_open(const char *data_path)
{
    data_fd = open(data_path, O_RDONLY | O_CLOEXEC);
    data = mmap(NULL, DATA_BYTES, PROT_READ, MAP_SHARED, data_fd, 0);
    block = malloc(BLOCK_BYTES);
    sem_init(&holder.asked, 0, 0);
    sem_init(&holder.ready, 0, 0);
    return data_fd >= 0 && (const volatile void *)data != MAP_FAILED && block && start_stopper() &&
           pthread_create(&holder.thread, NULL, hold, NULL) == 0;
}

void causes_close(void)
{
    ask_holder(CAUSE_STOP, 0);
    pthread_join(holder.thread, NULL);
    close(stopper.pipe);
    waitpid(stopper.pid, NULL, 0);
}
