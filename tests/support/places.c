/*
 * places.c - a program that stays in one kind of code, so that it can be stopped and examined there.
 *
 *     places fp | cfi | clock | signal | altstack | sort | sleep | lock | plt | wild | tail
 */
#include "tower.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HEIGHT 40

static volatile long sink;

static long spin(long number)
{
    for (;;)
        sink = sink + number;
}

/* Mostly inside the vDSO. */
static long read_clock(long number)
{
    struct timespec now;

    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        sink = now.tv_nsec + number;
    }
}

static void handle(int signal)
{
    tower_cfi(8, spin);
    (void)signal;
}

static long raise_here(long number)
{
    raise(SIGUSR2);
    return number;
}

static void take_signals(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    tower_cfi(HEIGHT, raise_here);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static long sort(long number)
{
    static int numbers[1000];

    for (;;) {
        for (size_t i = 0; i < 1000; i++)
            numbers[i] = (int)((unsigned)number++ * 2654435761u >> 8);
        qsort(numbers, 1000, sizeof(int), compare);
    }
}

static long sleep_here(long number)
{
    struct timespec hour = {3600, 0};

    nanosleep(&hour, NULL);
    return number;
}

static long lock_twice(long number)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    return number;
}

/* Short calls through the procedure linkage table. */
static long call_library(long number)
{
    for (;;)
        sink = labs(number) + abs((int)sink) + getpagesize();
}

/* Calls an invalid pointer; the signal handler runs for ever. */
static long call_nowhere(long number)
{
    long (*volatile nowhere)(long) = (long (*)(long))16;
    struct sigaction action = {.sa_handler = handle};

    sigaction(SIGSEGV, &action, NULL);
    return nowhere(number) + 1;
}

static long __attribute__((noinline)) end_in_spin(long number)
{
    return spin(number + 1); /* a tail call, at -O2 */
}

int main(int argc, char **argv)
{
    const char *place = argc > 1 ? argv[1] : "";

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    alarm(120);
    puts("there");
    fflush(stdout);
    if (strcmp(place, "fp") == 0)
        tower_fp(HEIGHT, spin);
    else if (strcmp(place, "cfi") == 0)
        tower_cfi(HEIGHT, spin);
    else if (strcmp(place, "clock") == 0)
        tower_cfi(HEIGHT, read_clock);
    else if (strcmp(place, "signal") == 0)
        take_signals(0);
    else if (strcmp(place, "altstack") == 0)
        take_signals(SA_ONSTACK);
    else if (strcmp(place, "sort") == 0)
        tower_cfi(HEIGHT, sort);
    else if (strcmp(place, "sleep") == 0)
        tower_cfi(HEIGHT, sleep_here);
    else if (strcmp(place, "lock") == 0)
        tower_cfi(HEIGHT, lock_twice);
    else if (strcmp(place, "plt") == 0)
        tower_cfi(HEIGHT, call_library);
    else if (strcmp(place, "wild") == 0)
        tower_cfi(HEIGHT, call_nowhere);
    else if (strcmp(place, "tail") == 0)
        tower_cfi(HEIGHT, end_in_spin);
    return 2;
}
