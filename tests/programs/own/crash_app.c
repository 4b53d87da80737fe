/*
 * crash_app.c - an app that links libmire and crashes in a known function:
 *
 *     crash_app URL STORE HOW
 *     crash_bare HOW             without libmire, for mire-run
 *
 *     start      nothing: reports of earlier runs are sent       null      planted_read reads address 8
 *     nowhere    planted_call calls address 0                    abort     planted_abort calls abort
 *     divide     planted_divide divides by 0                     deep      planted_deep overflows the stack
 *     thread     a thread crashes in planted_read, while the main thread waits in planted_wait
 *     chained    as null; an earlier handler of the app writes to standard output, and ends the process by the signal
 *     repaired   as null; an earlier handler of the app makes the memory readable, and the app ends well
 *     jumped     as null; an earlier handler of the app jumps out, and the app ends well
 */
#ifndef BARE
#include <mire/mire.h>
#endif

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *volatile place = (volatile int *)8;
static void (*volatile nowhere)(void);
static volatile int zero, sum;
static sigjmp_buf back;

/* Not inlined: reports must name these functions. */
__attribute__((noinline)) static int planted_read(void)
{
    return *place + sum;
}

__attribute__((noinline)) static void planted_call(void)
{
    nowhere();
    sum++;
}

__attribute__((noinline)) static void planted_abort(void)
{
    abort();
}

__attribute__((noinline)) static int planted_divide(void)
{
    return 7 / zero + sum;
}

__attribute__((noinline)) static int planted_deep(int depth)
{
    volatile char frame[1024];

    frame[depth % 1024] = 1;
    return planted_deep(depth + 1) + frame[depth % 1024];
}

__attribute__((noinline)) static void planted_wait(void)
{
    poll(NULL, 0, 20000);
    sum++;
}

static void *crash_thread(void *unused)
{
    sum += planted_read();
    return unused;
}

__attribute__((noinline)) static void planted_checkout(const char *how)
{
    pthread_t thread;

    if (!strcmp(how, "nowhere"))
        planted_call();
    else if (!strcmp(how, "abort"))
        planted_abort();
    else if (!strcmp(how, "divide"))
        sum += planted_divide();
    else if (!strcmp(how, "deep"))
        sum += planted_deep(0);
    else if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, crash_thread, NULL))
        planted_wait();
    else
        sum += planted_read();
    sum++;
}

static void on_chained(int signal)
{
    static const char text[] = "the app's own handler\n";

    if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
        _exit(3);
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void on_repaired(int signal)
{
    (void)signal;
    mprotect((void *)((uintptr_t)place & ~(uintptr_t)4095), 4096, PROT_READ);
}

static void on_jumped(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void handle_first(const char *how)
{
    struct sigaction action = {.sa_flags = SA_NODEFER};

    if (!strcmp(how, "repaired")) {
        void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        place = page == MAP_FAILED ? place : page;
    }
    action.sa_handler = !strcmp(how, "chained")    ? on_chained
                        : !strcmp(how, "repaired") ? on_repaired
                        : !strcmp(how, "jumped")   ? on_jumped
                                                   : SIG_DFL;
    if (action.sa_handler != SIG_DFL)
        sigaction(SIGSEGV, &action, NULL);
}

/* Starts the library. False: it did not start. */
static bool start(char **argv)
{
#ifdef BARE
    (void)argv;
    return true;
#else
    mire_options *options = mire_options_new();
    bool started;

    mire_options_set_app(options, "crash-app", "1");
    mire_options_set_server(options, argv[1], "mk_test");
    mire_options_set_store(options, argv[2]);
    started = mire_start(options) == MIRE_OK;
    mire_options_free(options);
    return started;
#endif
}

static void stop(bool sends)
{
#ifdef BARE
    (void)sends;
#else
    if (sends)
        mire_flush(30000);
    mire_stop(NULL);
#endif
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[argc - 1] : "start";

    handle_first(how);
    if (!start(argv))
        return 3;
    poll(NULL, 0, 50);
    if (strcmp(how, "start") != 0 && !sigsetjmp(back, 1))
        planted_checkout(how);
    poll(NULL, 0, 50);
    stop(!strcmp(how, "start"));
    return 0;
}
