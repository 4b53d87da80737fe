/* idle.c - preloaded: one more thread, which does nothing. The C library's allocator is dearer from then on, whoever
 * made the thread: of what a monitor with a thread costs a program without any, this is the part that is not the
 * monitor's. */
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
