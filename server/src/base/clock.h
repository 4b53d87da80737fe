/*
 * clock.h - the two clocks and how instants are written. Instants are microseconds since 1970 UTC (_us).
 */
#ifndef MIRE_BASE_CLOCK_H
#define MIRE_BASE_CLOCK_H

#include <stdint.h>

/* Wall clock, microseconds since 1970 UTC. */
int64_t clock_wall_us(void);

/* Monotonic clock, nanoseconds since some start. */
uint64_t clock_mono_ns(void);

/* RFC 3339 in UTC with milliseconds, 2026-11-21T00:36:29.123Z. `out` has room for 32 bytes. */
void clock_format(char *out, int64_t wall_us);

/* Days since 1970-01-01 of an instant, rounded down. */
int32_t clock_day(int64_t wall_us);

#endif
