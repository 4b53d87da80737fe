/*
 * ticks.h - timestamps that are cheaper than reading a clock: the processor's counter if the kernel itself uses it,
 * otherwise CLOCK_MONOTONIC. Signal-safe, except mire__ticks_choose.
 *
 *     now:     one instruction (x86-64 rdtsc, aarch64 cntvct_el0)
 *     later:   convert a recent timestamp into nanoseconds, by the clock at that time
 *
 * The conversion counts back from now, at the counter's own rate. A timestamp one second old is exact to some
 * microseconds, and to half a millisecond even while the system's clock is slewed at the maximal rate.
 */
#ifndef MIRE_PLATFORM_TICKS_H
#define MIRE_PLATFORM_TICKS_H

#include "base/base.h"

/* Is the counter good enough? Looked at once; before that, and if not, ticks are nanoseconds. Not signal-safe. */
void mire__ticks_choose(void);

uint64_t mire__ticks_now(void);

/* Two readings of counter and clock side by side: the rate between them. */
struct ticks_scale {
    uint64_t base_ticks;
    uint64_t base_ns;
};

/* Begin: at the start, and after the machine has slept, because a counter may stop or continue meanwhile. */
void mire__ticks_scale_init(struct ticks_scale *scale);

/* CLOCK_MONOTONIC at `ticks`: never later than now, and now if the two cannot be compared. */
uint64_t mire__ticks_to_ns(const struct ticks_scale *scale, uint64_t ticks);

/* The same with the readings of "now" given. Pure. */
uint64_t mire__ticks_convert(const struct ticks_scale *scale, uint64_t ticks, uint64_t now_ticks, uint64_t now_ns);

#endif
