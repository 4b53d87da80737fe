/*
 * floor.h - what a host takes for the bare part of a task: measured beside the task, it tells a slow host from slow
 * code.
 */
#ifndef MIRE_BENCH_FLOOR_H
#define MIRE_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Results go here, so that they are computed. */
extern volatile uint64_t floor_sink;

/* Seconds by a clock. */
double floor_now(clockid_t clock);

/* 64 bytes that say where the next one is. */
struct floor_line;

/* Lines of so much memory, in one cycle in random order; in small pages, as a mapped file is. Freed by the caller. */
struct floor_line *floor_lines(double bytes);

/* Processor seconds of so many steps from line to line, each behind the one before it. */
double floor_chase(const struct floor_line *lines, size_t steps);

/* `count` numbers from 0 to `high`, sorted and evenly apart. Freed by the caller. */
uint32_t *floor_starts(size_t count, uint32_t high);

/* Processor seconds to find each of the addresses, less `base`, among them: by halves, without branches. */
double floor_search(const uint32_t *starts, size_t count, const uint64_t *addresses, size_t address_count,
                    uint64_t base);

#endif
