/*
 * victim.c - a program with a loop that hangs once, in a chosen way: victim LOOP HANG [threads].
 *
 *     LOOP  poll ppoll epoll select pselect sigwait
 *     HANG  cpu sleep lock read deaf
 *
 * The hang lasts 700 ms. Prints its real length in ms.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define HANG_MS 700
#define STAY    __attribute__((noinline))

STAY void wait_for_work(const char *loop, int ms);
STAY void hang_cpu(void);
STAY void hang_sleep(void);
STAY void hang_lock(void);
STAY void hang_read(void);
STAY void hang_deaf(void);
STAY void handle(const char *hang);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile unsigned long sink;

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *release_later(void *held)
{
    if (held)
        pthread_mutex_lock(&lock);
    if (write(ends[1], "r", 1) != 1) /* ready */
        return NULL;
    usleep(HANG_MS * 1000);
    if (held)
        pthread_mutex_unlock(&lock);
    else if (write(ends[1], "x", 1) != 1)
        return NULL;
    return NULL;
}

static void *churn(void *unused)
{
    for (;;) {
        struct pollfd none = {.fd = -1};

        poll(&none, 1, 1);
        sink++;
    }
    return unused;
}

STAY void hang_cpu(void)
{
    long end = now_ms() + HANG_MS;

    while (now_ms() < end)
        for (int i = 0; i < 1000; i++)
            sink += (unsigned long)i;
}

STAY void hang_sleep(void)
{
    struct timespec time = {0, HANG_MS * 1000000L};

    nanosleep(&time, NULL);
}

static void start_releaser(void *held)
{
    pthread_t thread;
    char byte;

    if (pipe(ends) != 0 || pthread_create(&thread, NULL, release_later, held) != 0 || read(ends[0], &byte, 1) != 1)
        return;
    pthread_detach(thread);
}

STAY void hang_lock(void)
{
    start_releaser(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

STAY void hang_read(void)
{
    char byte = 0;

    start_releaser(NULL);
    if (read(ends[0], &byte, 1) == 1)
        sink += (unsigned long)byte;
}

STAY void hang_deaf(void)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    hang_cpu();
    sigprocmask(SIG_SETMASK, &before, NULL);
}

STAY void wait_for_work(const char *loop, int ms)
{
    struct timespec time = {0, ms * 1000000L};
    struct timeval span = {0, ms * 1000};
    struct epoll_event event;
    struct pollfd none[4] = {{.fd = -1}};
    volatile nfds_t count = 1; /* unknown to the compiler: the fortified form is called */
    sigset_t set;

    if (strcmp(loop, "poll") == 0)
        poll(none, count, ms);
    else if (strcmp(loop, "ppoll") == 0)
        ppoll(none, count, &time, NULL);
    else if (strcmp(loop, "epoll") == 0) {
        int epoll = epoll_create1(0);

        epoll_wait(epoll, &event, 1, ms);
        close(epoll);
    } else if (strcmp(loop, "select") == 0)
        select(0, NULL, NULL, NULL, &span);
    else if (strcmp(loop, "pselect") == 0)
        pselect(0, NULL, NULL, NULL, &time, NULL);
    else {
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigtimedwait(&set, NULL, &time);
    }
}

STAY void handle(const char *hang)
{
    long begin = now_ms();

    if (strcmp(hang, "cpu") == 0)
        hang_cpu();
    else if (strcmp(hang, "sleep") == 0)
        hang_sleep();
    else if (strcmp(hang, "lock") == 0)
        hang_lock();
    else if (strcmp(hang, "read") == 0)
        hang_read();
    else
        hang_deaf();
    printf("hung %ld\n", now_ms() - begin);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 3)
        return 2;
    for (int i = 3; i < argc; i++)
        for (int k = 0; k < 4; k++)
            pthread_create(&thread, NULL, churn, NULL);
    for (int turn = 0; turn < 6; turn++) {
        wait_for_work(argv[1], 20);
        if (turn == 2)
            handle(argv[2]);
    }
    return 0;
}
