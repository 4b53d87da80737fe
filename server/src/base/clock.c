/*
 * clock.c - the system's clocks.
 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

int64_t clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

uint64_t clock_mono_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

void clock_format(char *out, int64_t wall_us)
{
    struct tm tm;
    time_t seconds = (time_t)floor_div(wall_us, 1000000);
    int ms = (int)((wall_us - (int64_t)seconds * 1000000) / 1000);
    if (!gmtime_r(&seconds, &tm) || tm.tm_year < -1900 || tm.tm_year > 8099)
        snprintf(out, 32, "0000-00-00T00:00:00.000Z");
    else
        snprintf(out, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)(tm.tm_year + 1900) % 10000,
                 (unsigned)(tm.tm_mon + 1) % 100, (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
                 (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100, (unsigned)ms % 1000);
}

int32_t clock_day(int64_t wall_us)
{
    return (int32_t)floor_div(wall_us, (int64_t)86400 * 1000000);
}
