/*
 * loop_unhooked.c - loops that wait by calls which Mire does not hook, after one wait that it hooks. argv[2]:
 *
 *     raw        the system call ppoll, made by syscall()
 *     timerfd    read of a timer
 *     usleep     many short sleeps
 *     semaphore  sem_timedwait
 *     condition  pthread_cond_timedwait
 *     waitpid    for children
 *     barrier    pthread_barrier_wait, whose second round has the value of a lock
 *     futexes    futex_waitv, by syscall(): the second value is a lock's, too
 *     splice     splice and tee, from the same pipe
 *     fifo       open of a FIFO that the other process opens now and then
 *     ready      io_pgetevents
 *     stdio      fgets, of a pipe that another process writes to
 *     inner      usleep, in a function that the loop calls
 *     early      the same, after a hooked wait that is too short for its stack to be known, in a function that has returned
 *     twice      poll and then usleep, each time
 *     blocked    as usleep; the hang is one sleep deep in the work
 *     typed      read of standard input, a terminal whose user types a line now and then
 *     fgets      the same, through stdio
 *     naps       poll; the hang is part of the loop's function, and sleeps for a microsecond a thousand times
 *     steps      as usleep, with work for a tenth of the time; there is no hang
 *
 * The loop is in one function, the hang in a function that it calls.
 */
#define _GNU_SOURCE
#include "planted.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAY        __attribute__((noinline))
#define PART_OF_RUN static inline __attribute__((always_inline))
enum { PAUSE_MS = 100 };

static int timer, copy[2], pipe_end;
static char fifo[64];
static aio_context_t events;
static pthread_barrier_t barrier;
static _Atomic uint32_t rounds;
static FILE *lines;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

/* Ends a wait every now and then, on a thread of its own. */
static void *end_waits(void *how)
{
    for (;;) {
        usleep(PAUSE_MS * 1000);
        if (strcmp(how, "barrier") == 0) {
            pthread_barrier_wait(&barrier);
        } else {
            atomic_fetch_add(&rounds, 1);
            syscall(SYS_futex, &rounds, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
        }
    }
    return NULL;
}

static void write_lines(int to, const char *how)
{
    for (int i = 0; i < 100 && getppid() != 1; i++) {
        usleep(PAUSE_MS * 1000);
        if (strcmp(how, "fifo") == 0)
            close(open(fifo, O_WRONLY));
        else if (write(to, "line\n", 5) != 5)
            break;
    }
}

static void open_all(const char *how)
{
    const struct itimerspec every = {{0, PAUSE_MS * 1000000L}, {0, PAUSE_MS * 1000000L}};
    int ends[2];

    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &every, NULL);
    sem_init(&semaphore, 0, 0);
    snprintf(fifo, sizeof(fifo), "/tmp/mire-loop-%d", (int)getpid());
    if (pipe(ends) != 0 || pipe(copy) != 0 || mkfifo(fifo, 0600) != 0)
        abort();
    if (fork() == 0) {
        write_lines(ends[1], how);
        _exit(0);
    }
    close(ends[1]);
    pipe_end = ends[0];
    lines = fdopen(ends[0], "r");
    if (strcmp(how, "barrier") == 0 || strcmp(how, "futexes") == 0) {
        pthread_t thread;

        pthread_barrier_init(&barrier, NULL, 2);
        pthread_create(&thread, NULL, end_waits, (void *)(uintptr_t)how);
    }
}

PART_OF_RUN bool wait_rarely(const char *how)
{
    struct iocb look = {.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)pipe_end, .aio_buf = POLLIN},
                *all = &look;
    struct io_event event;
    struct futex_waitv word = {
        .val = atomic_load(&rounds), .uaddr = (uintptr_t)&rounds, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
    char line[80];

    if (strcmp(how, "barrier") == 0) {
        pthread_barrier_wait(&barrier);
    } else if (strcmp(how, "futexes") == 0) {
        syscall(SYS_futex_waitv, &word, 1, 0, NULL, 0);
    } else if (strcmp(how, "splice") == 0) {
        if (tee(pipe_end, copy[1], 5, 0) != 5 || read(copy[0], line, 5) != 5 || read(pipe_end, line, 5) != 5 ||
            splice(pipe_end, NULL, copy[1], NULL, 5, 0) != 5 || read(copy[0], line, 5) != 5)
            abort();
    } else if (strcmp(how, "fifo") == 0) {
        close(open(fifo, O_RDONLY));
    } else if (strcmp(how, "ready") == 0) {
        if (!events)
            syscall(SYS_io_setup, 1, &events);
        if (syscall(SYS_io_submit, events, 1, &all) != 1)
            abort();
        syscall(SYS_io_pgetevents, events, 1, 1, &event, NULL, NULL);
        if (read(pipe_end, line, 5) != 5)
            abort();
    } else {
        return false;
    }
    return true;
}

static struct timespec later(void)
{
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += PAUSE_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static void spin_ms(int ms)
{
    const uint64_t begin_ns = planted_now_ns();

    while (planted_now_ns() - begin_ns < (uint64_t)ms * 1000000u) {
    }
}

STAY void next_job(void)
{
    static volatile int jobs;

    usleep(PAUSE_MS * 1000);
    jobs++;
}

PART_OF_RUN void wait_once(const char *how)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L}, at = later();
    struct timespec left = pause;
    char line[80];
    uint64_t ticks;

    if (wait_rarely(how)) {
    } else if (strcmp(how, "raw") == 0) {
        syscall(SYS_ppoll, NULL, 0, &left, NULL, 8);
    } else if (strcmp(how, "timerfd") == 0) {
        if (read(timer, &ticks, sizeof(ticks)) < 0)
            abort();
    } else if (strcmp(how, "semaphore") == 0) {
        sem_timedwait(&semaphore, &at);
    } else if (strcmp(how, "condition") == 0) {
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&condition, &mutex, &at);
        pthread_mutex_unlock(&mutex);
    } else if (strcmp(how, "waitpid") == 0) {
        pid_t child = fork();

        if (child == 0) {
            usleep(PAUSE_MS * 1000);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (strcmp(how, "stdio") == 0) {
        if (!fgets(line, sizeof(line), lines))
            abort();
    } else if (strcmp(how, "inner") == 0 || strcmp(how, "early") == 0) {
        next_job();
    } else if (strcmp(how, "typed") == 0) {
        if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
            abort();
    } else if (strcmp(how, "fgets") == 0) {
        if (!fgets(line, sizeof(line), stdin))
            abort();
    } else if (strcmp(how, "naps") == 0) {
        poll(NULL, 0, PAUSE_MS);
    } else {
        if (strcmp(how, "twice") == 0)
            poll(NULL, 0, 10);
        usleep(PAUSE_MS * 1000);
    }
}

STAY void planted_hang_blocked(void)
{
    const struct timespec rest = {.tv_sec = 1, .tv_nsec = 0};
    const uint64_t begin_ns = planted_now_ns();

    nanosleep(&rest, NULL);
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

/* Work that yields the processor now and then, in the function that waits. */
PART_OF_RUN void hang_with_naps(void)
{
    const uint64_t begin_ns = planted_now_ns();

    do {
        spin_ms(1);
        usleep(1);
    } while (planted_now_ns() - begin_ns < 1000000000u);
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

STAY void begin_early(void)
{
    poll(NULL, 0, 3);
    atomic_fetch_add(&rounds, 1);
}

STAY void run(const char *how)
{
    if (strcmp(how, "early") != 0)
        poll(NULL, 0, 20);
    for (int i = 0; i < IDLE_MS / PAUSE_MS; i++) {
        wait_once(how);
        if (strcmp(how, "steps") == 0)
            spin_ms(PAUSE_MS / 10);
    }
    if (strcmp(how, "naps") == 0)
        hang_with_naps();
    else if (strcmp(how, "blocked") == 0)
        planted_hang_blocked();
    else if (strcmp(how, "steps") != 0)
        planted_hang();
    else
        printf("hung 0\n");
    for (int i = 0; i < REST_MS * 2 / PAUSE_MS; i++)
        wait_once(how);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_all(argv[2]);
    planted_start(argv);
    if (strcmp(argv[2], "early") == 0)
        begin_early();
    run(argv[2]);
    unlink(fifo);
    return 0;
}
