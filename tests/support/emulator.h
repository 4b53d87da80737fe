/* emulator.h - skips tests that an emulator of another processor cannot run. Include after cmocka.h. */
#ifndef MIRE_TESTS_EMULATOR_H
#define MIRE_TESTS_EMULATOR_H

#include "platform/platform.h"

#include <time.h>

/* Skip the rest of this test under an emulator, and print the reason. */
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

/* Sleep for the whole time; under an emulator a sample ends a sleep early (capture/sampler.h). */
static inline void sleep_through(uint64_t ms)
{
    uint64_t end_ns = mire__now_ns() + ms * MIRE_NS_PER_MS;
    const struct timespec end = {(time_t)(end_ns / MIRE_NS_PER_S), (long)(end_ns % MIRE_NS_PER_S)};

    while (mire__now_ns() < end_ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

#endif
