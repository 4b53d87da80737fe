/* emulator.h - what an emulator of another processor cannot show. Include after cmocka.h. */
#ifndef MIRE_TESTS_EMULATOR_H
#define MIRE_TESTS_EMULATOR_H

#include "platform/platform.h"

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

#endif
