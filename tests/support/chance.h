/*
 * chance.h - random numbers by law, for tests of statistics on generated months: the same in every run. A test sets the
 * seed before each of them.
 */
#ifndef MIRE_TESTS_CHANCE_H
#define MIRE_TESTS_CHANCE_H

#include <math.h>
#include <stdint.h>

static uint64_t seed;

/* Between 0 and 1, and neither. */
static inline double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = seed ^ (seed >> 29);
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

/* By Box and Muller, rounded to a count. */
static inline double normal(double mean, double deviation)
{
    double z = sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
    return fmax(0, floor(mean + deviation * z + 0.5));
}

static inline int64_t poisson(double mean)
{
    if (mean > 60)
        return (int64_t)normal(mean, sqrt(mean));
    double left = exp(-mean), product = uniform();
    int64_t count = 0;
    for (; product > left; count++)
        product *= uniform();
    return count;
}

#endif
