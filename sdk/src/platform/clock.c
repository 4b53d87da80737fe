/* clock.c - time. Signal-safe. */
#include "platform/platform.h"

#include <errno.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    int saved = errno;
    int failed = clock_gettime(clock, &now);

    errno = saved;
    return failed ? 0 : (uint64_t)now.tv_sec * MIRE_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t mire__now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t mire__now_coarse_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t mire__boot_now_ns(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

uint64_t mire__wall_now_ms(void)
{
    return read_clock(CLOCK_REALTIME) / MIRE_NS_PER_MS;
}

uint64_t mire__thread_cpu_ns(uint32_t tid)
{
    if (tid == 0)
        return read_clock(CLOCK_THREAD_CPUTIME_ID);
    /* The kernel's clock of one thread: its number inverted, above "per thread" (4) and "scheduled time" (2). */
    return read_clock((clockid_t)(~tid << 3 | 4 | 2));
}

uint64_t mire__process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
