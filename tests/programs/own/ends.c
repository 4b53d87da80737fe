/*
 * ends.c - a program that ends during a hang, in one of several ways. It does not use Mire, or is linked with libmire
 * (WITH_MIRE), with its store in $MIRE_STORE.
 *
 *     ends WAY MS [THREADS]
 *
 * Its loop waits twice, then computes. After MS milliseconds of that:
 *   exit, _exit, kill   a signal handler on the computing thread calls it (kill: SIGKILL)
 *   thread              another thread calls exit
 *   exec                the handler executes `ends none 0`
 *   none                the loop is reached again, waits once more, and main returns
 * Meanwhile THREADS other threads wait in loops of their own.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MIRE
#include <mire/mire.h>

static void start_mire(void)
{
    mire_options *options = mire_options_new();

    mire_options_set_app(options, "ends", "1");
    mire_options_set_store(options, getenv("MIRE_STORE"));
    mire_options_set_threshold_ms(options, 500);
    mire_start(options);
    mire_options_free(options);
}
#else
static void start_mire(void)
{
}
#endif

static const char *way, *self;
static volatile sig_atomic_t over;

static void end_now(int number)
{
    char *again[] = {(char *)(size_t)self, (char *)(size_t) "none", (char *)(size_t) "0", NULL};

    (void)number;
    over = 1;
    if (strcmp(way, "exit") == 0)
        exit(0);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "exec") == 0)
        execv(self, again);
}

static void *exit_from_here(void *ms)
{
    usleep(1000 * (useconds_t)(size_t)ms);
    exit(0);
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        poll(NULL, 0, 50);
    return unused;
}

static void compute(long ms)
{
    const struct itimerspec then = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
    timer_t timer;

    signal(SIGALRM, end_now);
    if (ms == 0 || timer_create(CLOCK_MONOTONIC, NULL, &timer) != 0 || timer_settime(timer, 0, &then, NULL) != 0)
        return;
    while (!over)
        ;
}

int main(int argc, char **argv)
{
    long ms = argc > 2 ? atol(argv[2]) : 0, threads = argc > 3 ? atol(argv[3]) : 0;
    pthread_t thread;

    start_mire();
    self = argv[0];
    way = argc > 1 ? argv[1] : "none";
    for (long i = 0; i < threads; i++)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    poll(NULL, 0, 20);
    poll(NULL, 0, 20);
    if (strcmp(way, "thread") == 0) {
        pthread_create(&thread, NULL, exit_from_here, (void *)(size_t)ms);
        ms += 60000;
    }
    compute(ms);
    poll(NULL, 0, 20);
    return 0;
}
