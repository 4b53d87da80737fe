/*
 * floor.h - measures the bare part of a task on this host. Measured beside the task, it separates a slow host from slow
 * code.
 */
#ifndef MIRE_BENCH_FLOOR_H
#define MIRE_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Results are added here, so that the compiler keeps the computation. */
extern volatile uint64_t floor_sink;

/* Seconds of a clock. */
double floor_now(clockid_t clock);

/* 64 bytes with the index of the next line. */
struct floor_line;

/* Allocate `bytes` of lines, in one cycle of random order; in small pages, as a mapped file is. Freed by the caller. */
struct floor_line *floor_lines(double bytes);

/* Processor seconds for so many dependent steps from line to line. */
double floor_chase(const struct floor_line *lines, size_t steps);

/* `count` numbers from 0 to `high`, sorted and evenly spaced. Freed by the caller. */
uint32_t *floor_starts(size_t count, uint32_t high);

/* Processor seconds to find each address, minus `base`, among them: a binary search without branches. */
double floor_search(const uint32_t *starts, size_t count, const uint64_t *addresses, size_t address_count,
                    uint64_t base);

#endif
