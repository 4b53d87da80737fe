/* idle.c - preloaded: one more thread, which does nothing. Any second thread makes the C library's allocator slower.
 * The benchmark uses it to separate that cost from the monitor's own, in a program without threads. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&thread, NULL, idle, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
