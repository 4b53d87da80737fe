/*
 * seed.h - random tests: the same numbers in every run, other ones by MIRE_SEED=N in the environment.
 *
 * Every run prints its seed, so what failed with another one can be repeated.
 */
#ifndef MIRE_TESTS_SEED_H
#define MIRE_TESTS_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint32_t test_seed(void)
{
    const char *chosen = getenv("MIRE_SEED");
    uint32_t seed = chosen ? (uint32_t)strtoul(chosen, NULL, 10) : 1;

    printf("MIRE_SEED=%u\n", seed);
    return seed;
}

/* Numbers from a state of the test's own, which starts as test_seed(): 0 to `below` - 1. */
static inline uint32_t test_roll(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth, MMIX */
    return (uint32_t)(*state >> 33) % below;
}

#endif
