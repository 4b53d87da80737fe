/*
 * random.h - xorshift64*: random enough to choose between neighbours, and the same on every machine. Signal-safe.
 */
#ifndef MIRE_BASE_RANDOM_H
#define MIRE_BASE_RANDOM_H

#include <stdint.h>

/* The next number. *state is never 0: a state of 0 yields zeros for ever. */
static inline uint64_t mire__random_next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
