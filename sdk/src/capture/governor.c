/* governor.c - see governor.h. */
#include "capture/governor.h"

/* Parts per million of a time; exact to a microsecond, so that no product overflows. */
static uint64_t part_of(uint64_t time_ns, uint32_t ppm)
{
    return time_ns / 1000 * ppm / 1000;
}

static void slow_down(struct governor *governor)
{
    if (governor->shift == MIRE_GOVERNOR_SHIFT_MAX)
        return;
    governor->shift++;
    governor->raised_count++;
}

uint32_t mire__governor_shift(struct governor *governor, uint64_t now_ns, uint64_t spent_ns,
                              const struct capture_settings *settings)
{
    uint64_t passed_ns = now_ns - governor->looked_ns, used_ns = mire__minus(spent_ns, governor->spent_ns);
    uint64_t minute_ns = part_of(settings->budget_minute_ms * MIRE_NS_PER_MS, settings->budget_ppm);

    if (governor->looked_ns == 0) {
        governor->looked_ns = now_ns;
        governor->spent_ns = spent_ns;
    }
    if (governor->looked_ns == now_ns || passed_ns < MIRE_NS_PER_S)
        return governor->shift;
    governor->looked_ns = now_ns;
    governor->spent_ns = spent_ns;
    governor->debt_ns = mire__minus(governor->debt_ns + used_ns, part_of(passed_ns, settings->budget_ppm));
    if (used_ns > part_of(passed_ns, settings->budget_peak_ppm)) {
        slow_down(governor);
    } else if (governor->debt_ns > minute_ns) {
        if (used_ns > part_of(passed_ns, settings->budget_ppm))
            slow_down(governor); /* otherwise the sampling is slow already */
    } else if (governor->debt_ns <= minute_ns / 2 && governor->shift > 0 &&
               used_ns <= part_of(passed_ns, settings->budget_peak_ppm / 2)) {
        governor->shift = governor->debt_ns == 0 ? 0 : governor->shift - 1;
    }
    return governor->shift;
}
