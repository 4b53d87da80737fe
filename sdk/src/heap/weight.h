/*
 * weight.h - what a sampled block stands for. Pure; stands alone, as layout.h does.
 *
 * Samples lie at random along all bytes allocated, one in `interval` bytes on average, independent of each other
 * (Poisson). So a block of s bytes is drawn with p = 1 - exp(-s / interval), and one that was drawn stands for w = 1 /
 * p blocks. A sum over drawn blocks estimates the sum over all; the sum of w (w - 1), for bytes times the size squared,
 * its variance.
 */
#ifndef MIRE_HEAP_WEIGHT_H
#define MIRE_HEAP_WEIGHT_H

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

/* Newton's; halves the guess until it is near. The library of mathematics is not worth being loaded for it. */
static inline double mire__draw_root(double square)
{
    double guess = square > 1 ? square : 1, next = (guess + square / guess) / 2;

    while (next < guess) {
        guess = next;
        next = (guess + square / guess) / 2;
    }
    return guess;
}

/*
 * Half of a 95 % interval about an estimate. Each drawn block is one event of a Poisson process; the ends of the
 * interval for few events are those of the chi-squared distribution, of which this is the usual approximation, with
 * the most that one drawn block stands for as the unit. largest 0: nothing was drawn but what was certain.
 */
static inline double mire__draw_half(double variance, double largest)
{
    return largest > 0 ? 1.96 * mire__draw_root(variance + largest * largest) + 1.96 * largest : 0;
}

#endif
