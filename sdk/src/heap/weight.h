/*
 * weight.h - what a sampled block stands for. Pure; stands alone, as layout.h does.
 *
 * Samples lie at random along all bytes allocated, one in `interval` bytes on average, independent of each other
 * (Poisson). So a block of s bytes is drawn with p = 1 - exp(-s / interval), and one that was drawn stands for 1 / p
 * blocks.
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
    for (; x > 0.125; x /= 2)
        halvings++;
    term = sum = -x;
    for (int i = 2; i < 12; i++)
        sum += term *= -x / i;
    for (; halvings > 0; halvings--)
        sum *= sum + 2; /* expm1(2x) from expm1(x) */
    return -sum;
}

#endif
