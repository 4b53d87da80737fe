/*
 * weight.h - the weight of a sampled block. Pure; depends on nothing else.
 *
 * Samples lie at random along all bytes allocated, one in `interval` bytes on average, independent of each other
 * (Poisson). So a block of s bytes is drawn with p = 1 - exp(-s / interval), and one that was drawn stands for w = 1 /
 * p blocks. A sum over drawn blocks estimates the sum over all; the sum of w (w - 1), for bytes times the size squared,
 * its variance.
 */
#ifndef MIRE_HEAPREAD_WEIGHT_H
#define MIRE_HEAPREAD_WEIGHT_H

#include <stdint.h>

/* The chance p. A block of 0 bytes is drawn as one of 1. interval 0 or 1: certain. Exact to 1e-15. */
static inline double mire__draw_chance(uint64_t size_bytes, uint64_t interval_bytes)
{
    double x = (double)(size_bytes ? size_bytes : 1) / (double)(interval_bytes ? interval_bytes : 1), term, sum;
    int halvings = 0;

    if (interval_bytes <= 1 || x > 40)
        return 1;
    while (x > 0.125) {
        x /= 2;
        halvings++;
    }
    term = sum = -x;
    for (int i = 2; i < 12; i++)
        sum += term *= -x / i;
    for (; halvings > 0; halvings--)
        sum *= sum + 2; /* expm1(2x) from expm1(x) */
    return -sum;
}

/* Newton's method, from a guess that is halved until it is near. Spares the program libm. */
static inline double mire__draw_root(double square)
{
    double guess = square > 1 ? square : 1, next = (guess + square / guess) / 2;

    while (next < guess) {
        guess = next;
        next = (guess + square / guess) / 2;
    }
    return guess;
}

/* The error of sums over blocks. Zeros: of blocks that were kept for certain, whose sums are exact. */
struct draw_spread {
    double variance_count, variance_bytes;
    double largest_count, largest_bytes; /* the largest weight of one drawn block */
    double missing;                      /* estimate of the blocks that were not drawn: the sum of w - 1 */
};

/* Add a block to the sums. chance: with which it was drawn, 1 if it was kept for certain */
static inline void mire__draw_add(struct draw_spread *spread, uint64_t size_bytes, double chance)
{
    double size = (double)size_bytes, weight = 1 / chance, variance = weight * (weight - 1);

    if (chance >= 1)
        return;
    spread->variance_count += variance;
    spread->variance_bytes += size * size * variance;
    if (weight > spread->largest_count)
        spread->largest_count = weight;
    if (weight * size > spread->largest_bytes)
        spread->largest_bytes = weight * size;
    spread->missing += weight - 1;
}

/* The weight of a block that may be missing: less where the odds are below one in 20 that one is. */
static inline double mire__draw_unit(const struct draw_spread *spread, double largest)
{
    return spread->missing < 0.05 ? largest * 20 * spread->missing : largest;
}

/*
 * Begin the sums over all blocks. Small blocks may exist of which none was drawn, so the weight of a block of 16 bytes
 * counts in any case.
 */
static inline void mire__draw_begin(struct draw_spread *all, uint64_t interval_bytes)
{
    double weight = 1 / mire__draw_chance(16, interval_bytes);

    *all = (struct draw_spread){.largest_count = weight, .largest_bytes = 16 * weight, .missing = 1};
}

/*
 * Add the sums of a part. Parts have blocks of different sizes, which may be missing to different degrees: the largest
 * unit of the parts is the unit of all.
 */
static inline void mire__draw_join(struct draw_spread *all, const struct draw_spread *part)
{
    double count = mire__draw_unit(part, part->largest_count), bytes = mire__draw_unit(part, part->largest_bytes);

    all->variance_count += part->variance_count;
    all->variance_bytes += part->variance_bytes;
    if (count > all->largest_count)
        all->largest_count = count;
    if (bytes > all->largest_bytes)
        all->largest_bytes = bytes;
    all->missing = 1; /* the units are made already */
}

/*
 * Half of a 95 % interval about a sum. Each drawn block is one event of a Poisson process; the ends of the interval for
 * few events are those of the chi-squared distribution, of which this is the usual approximation, with the
 * largest weight of one drawn block as the unit.
 */
static inline double mire__draw_half(double variance, double unit)
{
    return unit > 0 ? 1.96 * mire__draw_root(variance + unit * unit) + 1.96 * unit : 0;
}
static inline double mire__draw_half_count(const struct draw_spread *spread)
{
    return mire__draw_half(spread->variance_count, mire__draw_unit(spread, spread->largest_count));
}
static inline double mire__draw_half_bytes(const struct draw_spread *spread)
{
    return mire__draw_half(spread->variance_bytes, mire__draw_unit(spread, spread->largest_bytes));
}

#endif
