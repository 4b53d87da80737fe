/* load.c - see load.h. */
#include "capture/load.h"

#include <string.h>

#define PARTS 16 /* of a window, with at most two readings each */

void mire__load_reset(struct load *load)
{
    load->count = 0;
}

/* Drop readings before the window. */
static void forget(struct load *load, uint64_t from_ns)
{
    uint32_t old = 0;

    while (old < load->count && load->readings[old].at_ns < from_ns)
        old++;
    load->count -= old;
    memmove(load->readings, load->readings + old, load->count * sizeof(load->readings[0]));
}

static void keep(struct load *load, uint64_t gap_ns, uint64_t now_ns, uint64_t amount)
{
    struct load_reading reading = {now_ns, amount};
    bool close = load->count >= 2 && now_ns - load->readings[load->count - 2].at_ns < gap_ns;

    if (close || load->count == MIRE_LOAD_READINGS)
        load->count--;
    load->readings[load->count++] = reading;
}

enum mire__load mire__load_read(uint64_t *grown_out, uint64_t *within_ns_out, struct load *load,
                                const struct load_limit *limit, uint64_t now_ns, uint64_t amount)
{
    forget(load, now_ns > limit->window_ns ? now_ns - limit->window_ns : 0);
    keep(load, limit->window_ns / PARTS, now_ns, amount);
    *grown_out = amount - load->readings[0].amount;
    *within_ns_out = now_ns - load->readings[0].at_ns;
    if (limit->amount == 0 || *grown_out < limit->amount / 2)
        return MIRE_LOAD_BELOW;
    return *grown_out >= limit->amount && *within_ns_out >= limit->least_ns ? MIRE_LOAD_OVER : MIRE_LOAD_NEAR;
}
