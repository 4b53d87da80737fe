/*
 * floor.c - chains of random lines, and bare searches.
 */
#include "floor.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096

volatile uint64_t floor_sink;

struct floor_line {
    uint32_t next;
    uint32_t rest[15];
};

_Static_assert(sizeof(struct floor_line) == 64, "a line of the cache");

double floor_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct floor_line *floor_lines(double bytes)
{
    size_t count = (size_t)bytes / sizeof(struct floor_line);
    size_t room = (count * sizeof(struct floor_line) + PAGE - 1) / PAGE * PAGE;
    struct floor_line *lines = aligned_alloc(PAGE, room);
    uint64_t seed = 1;
    if (!lines)
        abort();
    madvise(lines, room, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < count; i++)
        lines[i].next = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) { /* Sattolo: one cycle */
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        size_t other = (seed >> 33) % i;
        uint32_t next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }
    return lines;
}

double floor_chase(const struct floor_line *lines, size_t steps)
{
    uint32_t at = 0;
    double begin = floor_now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < steps; i++)
        at = lines[at].next;
    floor_sink += at;
    return floor_now(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

uint32_t *floor_starts(size_t count, uint32_t high)
{
    uint32_t *starts = malloc(count * sizeof *starts);
    if (!starts)
        abort();
    for (size_t i = 0; i < count; i++)
        starts[i] = (uint32_t)((uint64_t)high * i / count);
    return starts;
}

double floor_search(const uint32_t *starts, size_t count, const uint64_t *addresses, size_t address_count,
                    uint64_t base)
{
    double begin = floor_now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sum = 0;
    for (size_t i = 0; i < address_count; i++) {
        uint32_t offset = (uint32_t)(addresses[i] - base);
        const uint32_t *from = starts;
        for (size_t left = count; left > 1; left -= left / 2)
            from = from[left / 2] <= offset ? from + left / 2 : from;
        sum += (uint64_t)(from - starts);
    }
    floor_sink += sum;
    return floor_now(CLOCK_PROCESS_CPUTIME_ID) - begin;
}
