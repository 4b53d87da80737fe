/* emulator.h - what an emulator of another processor cannot show. Include after cmocka.h. */
#ifndef MIRE_TESTS_EMULATOR_H
#define MIRE_TESTS_EMULATOR_H

#include "platform/platform.h"

#include <time.h>

/* Skip the rest of this test under an emulator, and say what that lacks. */
static inline void skip_if_emulated(const char *lack)
{
    if (mire__thread_states_hold())
        return;
    print_message("skipped: %s\n", lack);
    skip();
}

static inline void skip_if_proc_is_an_emulators(void)
{
    skip_if_emulated("/proc tells of the emulator's own system calls");
}

/* A sample ends a sleep early there (capture/sampler.h): sleep on until the time is over. */
static inline void sleep_through(uint64_t ms)
{
    uint64_t end_ns = mire__now_ns() + ms * MIRE_NS_PER_MS;
    const struct timespec end = {(time_t)(end_ns / MIRE_NS_PER_S), (long)(end_ns % MIRE_NS_PER_S)};

    while (mire__now_ns() < end_ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

#endif
