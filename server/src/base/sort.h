/*
 * sort.h - sorts 64 bit keys, the number of a row in their lower half, by their upper half; the order of two integers.
 */
#ifndef MIRE_BASE_SORT_H
#define MIRE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sort by the upper 32 bits; equal ones keep their order.
 *
 *   spare  room for as many keys
 *
 * Takes time in proportion to count, whatever the keys are.
 */
void sort_keys(uint64_t *keys, uint64_t *spare, size_t count);

/* Below 0, 0 or above 0, as qsort's comparison wants it. */
static inline int order_of(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

#endif
