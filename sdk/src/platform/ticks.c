/* ticks.c - see ticks.h. Signal-safe. */
#include "platform/ticks.h"

#include "platform/arch.h"
#include "platform/platform.h"

#include <string.h>

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#define TRIES    16
#define CLOSE_NS 2000

static bool use_counter; /* written before the gate is opened, read by hooks after that */

/*
 * The kernel uses the counter for its own time only while the counter is steady and equal on all processors. It uses
 * the counter by kvm-clock too, but a virtual machine may have moved to a processor with another rate.
 */
void mire__ticks_choose(void)
{
    char source[32];
    bool read = mire__file_read(source, sizeof(source), CLOCK_SOURCE) > 0;
    bool trusted = read && (strncmp(source, "tsc\n", 4) == 0 || strncmp(source, "arch_sys_counter\n", 17) == 0);

    use_counter = (trusted || (read && strncmp(source, "kvm-clock\n", 10) == 0)) && mire__arch_has_counter(trusted);
}

uint64_t mire__ticks_now(void)
{
    return use_counter ? mire__arch_as_counter() : mire__now_ns();
}

/* Both readings at one instant: the closest pair of a few, in case the thread is interrupted between them. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t closest_ns = UINT64_MAX;

    for (int i = 0; i < TRIES && closest_ns > CLOSE_NS; i++) {
        uint64_t before_ns = mire__now_ns(), between = mire__ticks_now(), after_ns = mire__now_ns();

        if (after_ns - before_ns < closest_ns) {
            closest_ns = after_ns - before_ns;
            *ticks = between;
            *ns = before_ns + closest_ns / 2;
        }
    }
}

void mire__ticks_scale_init(struct ticks_scale *scale)
{
    read_both(&scale->base_ticks, &scale->base_ns);
}

uint64_t mire__ticks_convert(const struct ticks_scale *scale, uint64_t ticks, uint64_t now_ticks, uint64_t now_ns)
{
    uint64_t span_ticks = now_ticks - scale->base_ticks, span_ns = now_ns - scale->base_ns, age_ns;

    if (ticks >= now_ticks || ticks < scale->base_ticks || now_ns < scale->base_ns)
        return now_ns;
    age_ns = (uint64_t)((double)(now_ticks - ticks) * ((double)span_ns / (double)span_ticks));
    return age_ns < now_ns ? now_ns - age_ns : 0;
}

uint64_t mire__ticks_to_ns(const struct ticks_scale *scale, uint64_t ticks)
{
    uint64_t now_ticks = 0, now_ns = 0;

    if (!use_counter)
        return ticks;
    read_both(&now_ticks, &now_ns);
    return mire__ticks_convert(scale, ticks, now_ticks, now_ns);
}
