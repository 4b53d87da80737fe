/*
 * sort.h - sorts 64 bit keys, the number of a row in their lower half, by their upper half.
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

#endif
