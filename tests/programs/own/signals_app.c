/*
 * signals_app.c - uses signals as real programs do: SIGURG like servers, every signal like programs with a signal
 * thread. It hangs three times, in tick1 to tick3, and prints signals and interruptions that it did not cause.
 *
 *     signals_app handler | blocked | descriptor | ignored | restored | every | kernel | late | cancel | traced
 *     signals_app small                  ends by abort()
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HANG_S 0.45 /* processor time, so that a busy machine does not shorten the hang */

static volatile int handled, cut;
static volatile double sum;

static double used(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void count(int signal)
{
    (void)signal;
    handled++;
}

/* Mostly computes; also naps as briefly as possible, so that a sample may arrive at the start of a wait. */
static void work(void)
{
    const struct timespec nap = {0, 1000};
    double end = used() + HANG_S;

    while (used() < end) {
        for (int i = 0; i < 20000; i++)
            sum += i;
        if (nanosleep(&nap, NULL) != 0)
            cut++;
    }
}

/* Waits by one repeated call, as a loop does; a nap in a deeper frame is then no wait of the loop. */
static __attribute__((noinline)) void idle(void)
{
    for (int i = 0; i < 5; i++)
        poll(NULL, 0, 20);
}

#define TICK(n)                                           \
    void tick##n(void);                                   \
    __attribute__((noinline, noclone)) void tick##n(void) \
    {                                                     \
        work();                                           \
        sum += n;                                         \
    }
TICK(1)
TICK(2)
TICK(3)

static void *wait_for_signals(void *unused)
{
    sigset_t every;
    int signal;

    sigfillset(&every);
    while (sigwait(&every, &signal) == 0)
        handled++;
    return unused;
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void cancel_one(void)
{
    pthread_t thread;
    void *result = NULL;

    if (pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0) {
        pthread_cancel(thread);
        pthread_join(thread, &result);
    }
    if (result != PTHREAD_CANCELED)
        printf("not cancelled\n");
}

static int descriptor = -1;

/* As programs of a time have it in which the kernel's frame was smaller. */
#define SMALL_BYTES 2048
static char small[SMALL_BYTES];
static const stack_t small_stack = {.ss_sp = small, .ss_size = SMALL_BYTES};

static void take_signals(const char *how)
{
    sigset_t set;
    pthread_t thread;
    uint64_t all = ~0ull;

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    if (!strcmp(how, "handler") || !strcmp(how, "late"))
        signal(SIGURG, count);
    else if (!strcmp(how, "ignored"))
        signal(SIGURG, SIG_IGN);
    else if (!strcmp(how, "restored"))
        signal(SIGURG, SIG_DFL);
    else if (!strcmp(how, "blocked") || !strcmp(how, "descriptor"))
        pthread_sigmask(SIG_BLOCK, &set, NULL);
    else if (!strcmp(how, "kernel"))
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    else if (!strcmp(how, "cancel"))
        cancel_one();
    else if (!strcmp(how, "traced"))
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    else if (!strcmp(how, "small"))
        sigaltstack(&small_stack, NULL);
    if (!strcmp(how, "descriptor"))
        descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (!strcmp(how, "every")) {
        sigfillset(&set);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        pthread_create(&thread, NULL, wait_for_signals, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    struct signalfd_siginfo info;
    struct sigaction seen;
    uint64_t pending = 0;
    int read_count = 0;

    sigaction(SIGURG, NULL, &seen);
    idle();
    if (strcmp(how, "late") != 0)
        take_signals(how);
    tick1();
    idle();
    if (!strcmp(how, "late"))
        take_signals(how);
    tick2();
    idle();
    tick3();
    idle();
    if (!strcmp(how, "cancel"))
        cancel_one();
    if (!strcmp(how, "small")) {
        puts("aborts");
        fflush(stdout);
        abort();
    }
    while (descriptor >= 0 && read(descriptor, &info, sizeof(info)) > 0)
        read_count++;
    syscall(SYS_rt_sigpending, &pending, sizeof(pending));
    printf("taken %d handled %d read %d pending %llx cut %d\n", seen.sa_handler != SIG_DFL, handled, read_count,
           (unsigned long long)pending, cut);
    return 0;
}
