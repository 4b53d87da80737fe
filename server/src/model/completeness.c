/* completeness.c - see completeness.h. */
#include "model/completeness.h"

#include <math.h>

#define HOURS_A_DAY 24
#define HOUR_US     3600000000.0
#define BOUNDS      (MIRE_DELAY_BUCKETS - 1)
#define LEAST_BOUND 7 /* 2^7 hours: five days */

static double hours_since(int32_t day, double hour, int64_t now_us)
{
    return (double)now_us / HOUR_US - (double)day * HOURS_A_DAY - hour;
}

/* Over the days for which 2^bound hours have passed: events that came within that time, and within half of it. */
static void sum_up(double *all, double *earlier, const struct arrivals *days, size_t count, int bound, int64_t now_us)
{
    *all = *earlier = 0;
    for (size_t i = 0; i < count; i++) {
        if (hours_since(days[i].day, HOURS_A_DAY, now_us) < ldexp(1, bound))
            continue;
        for (int k = 0; k <= bound; k++)
            *all += days[i].events[k];
        for (int k = 0; k < bound; k++)
            *earlier += days[i].events[k];
    }
}

struct completeness completeness_of(const struct arrivals *days, size_t count, int64_t now_us)
{
    struct completeness out = {0};
    double all, earlier;

    out.within[BOUNDS - 1] = 1;
    for (int bound = BOUNDS - 1; bound > 0; bound--) {
        sum_up(&all, &earlier, days, count, bound, now_us);
        out.within[bound - 1] = out.within[bound] * (all > 0 ? earlier / all : 1);
        out.known |= bound == LEAST_BOUND && all >= MIRE_COMPLETENESS_LEAST;
    }
    return out;
}

/* Within so many hours; between two bounds by the logarithm of the time. */
static double within(const struct completeness *completeness, double hours)
{
    if (hours <= 1)
        return completeness->within[0] * hours;
    double at = log2(hours);
    int below = (int)at;

    if (below >= BOUNDS - 1)
        return 1;
    return completeness->within[below] + (at - below) * (completeness->within[below + 1] - completeness->within[below]);
}

double completeness_share(const struct completeness *completeness, int32_t day, int64_t now_us)
{
    double sum = 0;
    int hours = 0;

    for (int hour = 0; hour < HOURS_A_DAY; hour++) {
        double since = hours_since(day, hour + 0.5, now_us);
        if (since <= 0)
            break;
        sum += within(completeness, since);
        hours++;
    }
    return completeness->known && hours ? sum / hours : 1;
}
