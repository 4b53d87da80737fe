/*
 * planted.h - common code of the loops in this folder. Each loop idles for IDLE_MS, hangs once for HANG_MS in
 * planted_hang or a similar function, idles again and ends. It prints the length of the hang in nanoseconds, and errors
 * of Mire's functions.
 *
 *     LOOP STORE [more]      built WITH_MIRE: watched by libmire; otherwise by mire-run or not at all
 */
#ifndef TESTS_SUPPORT_LOOPS_PLANTED_H
#define TESTS_SUPPORT_LOOPS_PLANTED_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#ifdef WITH_MIRE
#include <mire/mire.h>
#endif

enum { IDLE_MS = 1300, HANG_MS = 1000, REST_MS = 300, PING_MS = 100 };

static inline uint64_t planted_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Compute for a third of the time, and sleep for the rest. */
static __attribute__((noinline, unused)) void planted_hang(void)
{
    const uint64_t begin_ns = planted_now_ns();
    const struct timespec rest = {.tv_sec = 0, .tv_nsec = HANG_MS * 2 / 3 * 1000000L};

    while (planted_now_ns() - begin_ns < HANG_MS / 3 * 1000000u) {
    }
    nanosleep(&rest, NULL);
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

/* Wait with the loop's own call for another purpose, such as a network request. */
static __attribute__((noinline, unused)) void planted_hang_waiting(void)
{
    const uint64_t begin_ns = planted_now_ns();

    poll(NULL, 0, HANG_MS);
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

/* One of many short turns. Returns false once they have taken HANG_MS since begin_ns. */
static __attribute__((noinline, unused)) bool planted_turn(uint64_t begin_ns)
{
    const struct timespec while_ns = {0, 5000000};

    nanosleep(&while_ns, NULL);
    if (planted_now_ns() - begin_ns < HANG_MS * 1000000u)
        return true;
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
    return false;
}

#ifdef WITH_MIRE
static inline void planted_expect(enum mire_err err)
{
    if (err != MIRE_OK)
        printf("%s\n", mire_err_name(err));
}
#endif

/* Start libmire without rate limits, so that every hang is stored. */
static inline void planted_start_with(char **argv, unsigned threshold_ms)
{
#ifdef WITH_MIRE
    mire_options *options = mire_options_new();

    mire_options_set_app(options, "t", "1");
    mire_options_set_store(options, argv[1]);
    mire_options_set_threshold_ms(options, threshold_ms);
    mire_options_set_period_ms(options, 10);
    mire_options_set_number(options, "suppress_ms", 0);
    mire_options_set_number(options, "daily_cap", 1000);
    planted_expect(mire_start(options));
    mire_options_free(options);
#else
    (void)argv, (void)threshold_ms;
#endif
}

static inline void planted_start(char **argv)
{
    planted_start_with(argv, 500);
}

#endif
