/*
 * seed.h - random numbers of tests: the same in every run, or by MIRE_SEED=N in the environment.
 *
 * Every run prints its seed, so that a failure can be repeated.
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

/* A random number from 0 to `below` - 1. The test owns the state, which starts as test_seed(). */
static inline uint32_t test_roll(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth, MMIX */
    return (uint32_t)(*state >> 33) % below;
}

#endif
