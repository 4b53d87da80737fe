/*
 * starved.h - runs scenes in a child, and detects that the machine gave programs no processor meanwhile.
 *
 * The parent sleeps in short steps. A step that ends late shows that programs waited for a processor, and so does the
 * kernel's count of such time (/proc/pressure/cpu, if the kernel has it). A scene that fails in such a time runs again;
 * at any other time its failure counts.
 */
#ifndef TESTS_SUPPORT_STARVED_H
#define TESTS_SUPPORT_STARVED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"

#define STARVED_STEP_US 10000
#define STARVED_LATE_NS 20000000ull
#define STARVED_SHARE   90 /* percent of a time in which some program waited; scenes make less */
#define STARVED_TRIES   5
#define STARVED_END_S   300 /* ends a scene that hangs */

/* Time in which at least one program waited for a processor, microseconds; 0: unknown. */
static inline uint64_t starved_waited_us(void)
{
    unsigned long long total = 0;
    FILE *file = fopen("/proc/pressure/cpu", "re");

    if (file && fscanf(file, "some %*s %*s %*s total=%llu", &total) != 1)
        total = 0;
    if (file)
        fclose(file);
    return total;
}

/* Wait for the child. Returns its status; *starved_out: programs waited for a processor meanwhile. */
static inline int starved_wait(bool *starved_out, pid_t child)
{
    uint64_t begin_ns = mire__now_ns(), waited_us = starved_waited_us();
    int status = 0;

    *starved_out = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        uint64_t due_ns = mire__now_ns() + STARVED_STEP_US * 1000ull;

        usleep(STARVED_STEP_US);
        *starved_out |= mire__now_ns() > due_ns + STARVED_LATE_NS;
    }
    *starved_out |= (starved_waited_us() - waited_us) * 1000 * 100 > (mire__now_ns() - begin_ns) * STARVED_SHARE;
    return status;
}

static inline void starved_scene(bool (*play)(void))
{
    for (int i = 0; i < STARVED_TRIES; i++) {
        pid_t child = fork();
        bool starved;
        int status;

        if (child == 0) {
            alarm(STARVED_END_S);
            _exit(play() ? 0 : 1);
        }
        status = starved_wait(&starved, child);
        if (!starved)
            assert_int_equal(status, 0);
        if (status == 0)
            return;
    }
    print_message("starved each of %d times\n", STARVED_TRIES);
    skip();
}

#endif
