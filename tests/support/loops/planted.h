/*
 * planted.h - what the loops in this folder have in common: each idles for IDLE_MS, hangs once for HANG_MS in
 * planted_hang, idles again and ends. It prints the time that the hang took, in nanoseconds.
 *
 *     LOOP STORE [more]      built WITH_MIRE: watched by libmire, else by mire-run or not at all
 */
#ifndef TESTS_SUPPORT_LOOPS_PLANTED_H
#define TESTS_SUPPORT_LOOPS_PLANTED_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#ifdef WITH_MIRE
#include <mire/mire.h>
#endif

enum { IDLE_MS = 1300, HANG_MS = 1000, REST_MS = 300 };

static inline uint64_t planted_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A third of it on the processor, the rest asleep. */
static __attribute__((noinline)) void planted_hang(void)
{
    const uint64_t begin_ns = planted_now_ns();
    const struct timespec rest = {.tv_sec = 0, .tv_nsec = HANG_MS * 2 / 3 * 1000000L};

    while (planted_now_ns() - begin_ns < HANG_MS / 3 * 1000000u) {
    }
    nanosleep(&rest, NULL);
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

static inline void planted_start(char **argv)
{
#ifdef WITH_MIRE
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, "t", "1");
    mire_options_set_store(options, argv[1]);
    mire_options_set_threshold_ms(options, 500);
    mire_options_set_period_ms(options, 10);
    err = mire_start(options);
    mire_options_free(options);
    if (err != MIRE_OK)
        printf("start %s\n", mire_err_name(err));
#else
    (void)argv;
#endif
}

#endif
