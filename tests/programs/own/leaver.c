/*
 * leaver.c - a program whose first thread ends before the last one: leaver exit|cancel|raw|strict MILLISECONDS [STORE]
 *
 * The other thread prints "alone" and sleeps. Built with WITH_MIRE the program starts libmire itself.
 */
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef WITH_MIRE
#include "mire/mire.h"

static int start(const char *store)
{
    mire_options *options = mire_options_new();
    int failed =
        mire_options_set_app(options, "leaver", "1") || mire_options_set_store(options, store) || mire_start(options);

    mire_options_free(options);
    return !failed;
}
#else
static int start(const char *store)
{
    return store == NULL;
}
#endif

static void *stay(void *milliseconds)
{
    puts("alone");
    fflush(stdout);
    usleep((useconds_t)atoi(milliseconds) * 1000);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 3 || !start(argv[3]))
        return 3;
    poll(NULL, 0, 5);
    pthread_create(&thread, NULL, stay, argv[2]);
    if (strcmp(argv[1], "exit") == 0)
        pthread_exit(NULL);
    if (strcmp(argv[1], "cancel") == 0)
        pthread_cancel(pthread_self());
    if (strcmp(argv[1], "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(argv[1], "raw") == 0 || strcmp(argv[1], "strict") == 0)
        syscall(SYS_exit, 0);
    pause();
    return 4;
}
