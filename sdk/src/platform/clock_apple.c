/* clock_apple.c - time; see platform.h. Signal-safe. */
#include "platform/platform.h"

#include <errno.h>
#include <mach/mach.h>
#include <mach/thread_info.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    int saved = errno;
    uint64_t now_ns = clock_gettime_nsec_np(clock);

    errno = saved;
    return now_ns;
}

/* Does not go on while the machine sleeps, as CLOCK_MONOTONIC of Linux. */
uint64_t mire__now_ns(void)
{
    return read_clock(CLOCK_UPTIME_RAW);
}

uint64_t mire__now_coarse_ns(void)
{
    return read_clock(CLOCK_UPTIME_RAW_APPROX);
}

uint64_t mire__boot_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_RAW);
}

uint64_t mire__wall_now_ms(void)
{
    return read_clock(CLOCK_REALTIME) / MIRE_NS_PER_MS;
}

uint64_t mire__thread_cpu_ns(uint32_t tid)
{
    struct thread_counters counters;

    if (tid == 0)
        return read_clock(CLOCK_THREAD_CPUTIME_ID);
    mire__thread_counters(&counters, tid);
    return counters.cpu_ns;
}

uint64_t mire__process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
