/*
 * bench_heap.c - measures the cost of the memory tables: time of an allocation, the longest pause, memory of a block
 * and a stack, and reading 1,000,000 live blocks.
 *
 *     make bench-heap
 *
 * Times are CPU time of the calling thread. The cost of an allocation and a free is compared with the C library's in
 * alternating rounds, since a shared machine has slow hours. Ends with 0 if no goal is missed.
 */
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "support/heaps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BASE   UINT64_C(0x7f0000000000)
#define ROUNDS 25

static bool missed;

static void print(const char *name, double value, const char *unit, double goal)
{
    bool ok = value <= goal;

    printf("%-44s %10.2f %-6s | goal <= %g | %s\n", name, value, unit, goal, ok ? "ok" : "short");
    missed |= !ok;
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t random_state = 1;

static uint32_t roll(uint32_t below)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % below;
}

/* ---- blocks ---- */

/*
 * Select the live blocks that a round replaces: the same for the tables and the C library. Each round selects others,
 * since one round does not reach all of a million blocks.
 */
static void first_draw(int round)
{
    random_state = (uint64_t)round + 1;
}

/*
 * Nanoseconds for malloc and free of one of `live` blocks, which are not written: the cost without the tables.
 */
static double time_malloc(void **blocks, uint64_t live, uint64_t size, uint32_t pairs, int round)
{
    double begin = cpu_ns();

    first_draw(round);
    for (uint32_t i = 0; i < pairs; i++) {
        void **block = &blocks[roll((uint32_t)live)];

        free(*block);
        *block = malloc(size);
    }
    return (cpu_ns() - begin) / pairs;
}

/* The same for the tables. */
static double time_tables(struct heaps *heaps, uint64_t live, uint64_t size, uint64_t spacing, uint32_t pairs,
                          int round)
{
    double begin = cpu_ns();

    first_draw(round);
    for (uint32_t i = 0; i < pairs; i++) {
        uint64_t address = BASE + roll((uint32_t)live) * spacing;

        heaps_clear(heaps, address);
        heaps_set(heaps, address, size, 1);
    }
    return (cpu_ns() - begin) / pairs;
}

/*
 * Clear and set `pairs` times among `live` blocks of `size` bytes, `spacing` apart.
 *   how   MIRE_FLAG_ONE_PHASE, or 0 as with an unknown allocator
 *   goal  limit, as a multiple of malloc and free
 */
static void time_pairs(const char *name, uint64_t live, uint64_t size, uint64_t spacing, uint32_t pairs, uint32_t how,
                       double goal)
{
    struct heaps *heaps = heaps_new(64u << 20, MIRE_HEAP_EXACT);
    void **blocks = calloc(live, sizeof(*blocks));
    double ours = 1e9, theirs = 1e9;

    mire__heap_flags_change(&heaps->heap, how, how);
    for (uint64_t i = 0; i < live; i++) {
        heaps_set(heaps, BASE + i * spacing, size, 1);
        blocks[i] = malloc(size);
    }
    for (int round = 0; round < ROUNDS; round++) {
        double tables = time_tables(heaps, live, size, spacing, pairs, round),
               c = time_malloc(blocks, live, size, pairs, round);

        ours = tables < ours ? tables : ours;
        theirs = c < theirs ? c : theirs;
    }
    print(name, ours / theirs, "x", goal);
    printf("  %s %.1f ns, malloc and free %.1f ns\n", name, ours, theirs);
    for (uint64_t i = 0; i < live; i++)
        free(blocks[i]);
    free(blocks);
    heaps_free(heaps);
}

/* A free of a block that was not sampled. */
static double time_dismissal(void)
{
    struct heaps *heaps = heaps_new_at(20u << 20, MIRE_HEAP_SAMPLED, 512u << 10);
    uint64_t known = 0;
    double begin, best = 1e9;

    for (uint64_t i = 0; i < 2000; i++)
        mire__block_as_sample(&heaps->heap, heaps->slot, BASE + i * 524288, 100, 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        begin = cpu_ns();
        for (uint64_t i = 0; i < 800000; i++)
            known += mire__filter_may_hold(&heaps->heap, BASE + 48 + i % 65536 * 64);
        begin = (cpu_ns() - begin) / 8e5;
        best = begin < best ? begin : best;
    }
    heaps_free(heaps);
    return known > 0 ? best : 1e9; /* a filter without false positives would not be tested */
}

/* ---- the longest pause ---- */

/*
 * The longest call that adds a stack, or sets a block, while the tables grow from nothing. In every round the tables
 * grow at the same calls, while interrupts come at others. Of each call the shortest time of all rounds counts.
 */
static double longest_growth(bool stacks)
{
    enum { CALLS = 200000 };
    double *shortest = calloc(CALLS, sizeof(*shortest)), longest = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct heaps *heaps = heaps_new(64u << 20, MIRE_HEAP_EXACT);

        random_state = 1;
        for (uint32_t i = 0; i < CALLS; i++) {
            uint64_t frames[5] = {0x401000 + i, 0x501000 + roll(5000), 0x601000 + roll(100), 0x701000, 0x801000};
            uint32_t nodes[5];
            double begin = cpu_ns(), took;

            if (stacks)
                mire__nodes_as_push(nodes, &heaps->heap, MIRE_NODE_ROOT, frames, 5);
            else
                heaps_set(heaps, BASE + i * UINT64_C(4096), i % 2 ? 48 : 1000, 1);
            took = (cpu_ns() - begin) / 1000;
            shortest[i] = round == 0 || took < shortest[i] ? took : shortest[i];
        }
        heaps_free(heaps);
    }
    for (uint32_t i = 0; i < CALLS; i++)
        longest = shortest[i] > longest ? shortest[i] : longest;
    free(shortest);
    return longest;
}

/* ---- memory ---- */

/* Bytes of the budget for each live block, everything included. */
static double bytes_per_block(uint64_t live, uint64_t size, uint64_t spacing)
{
    struct heaps *heaps = heaps_new(128u << 20, MIRE_HEAP_EXACT);
    uint64_t before = heaps->heap.header->claimed_bytes, after;

    for (uint64_t i = 0; i < live; i++)
        heaps_set(heaps, BASE + i * spacing, size, 1);
    after = heaps->heap.header->claimed_bytes;
    heaps_free(heaps);
    return (double)(after - before) / (double)live;
}

/* Resident memory of this process. */
static double resident_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all = 0, resident = 0;

    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
        abort();
    fclose(file);
    return (double)resident * 4096 / (1 << 20);
}

/* ---- reading ---- */

struct sums {
    uint64_t count, bytes;
    uint32_t *by_node;
};

static bool sum_up(void *context, const struct heap_live *live)
{
    struct sums *sums = context;

    sums->count++;
    sums->bytes += live->size;
    sums->by_node[live->node]++;
    return true;
}

static void read_a_million(void)
{
    enum { BLOCKS = 1000000, STACKS = 100000 };
    struct heaps *heaps = heaps_new(40u << 20, MIRE_HEAP_EXACT);
    static struct heap_reader reader;
    struct sums sums = {0, 0, NULL};
    double before, begin, took;

    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint64_t frames[4] = {0x401000 + i % STACKS, 0x501000 + i % 5000, 0x601000 + i % 100, 0x701000};
        uint32_t nodes[4];

        mire__nodes_as_push(nodes, &heaps->heap, MIRE_NODE_ROOT, frames, 4);
        heaps_set(heaps, BASE + i * UINT64_C(64), 16 + i % 40, nodes[0]);
    }
    before = resident_mib();
    begin = cpu_ns();
    sums.by_node = calloc(MIRE_HEAP_WORDS_MAX, sizeof(*sums.by_node));
    if (mire__read_open(&reader, heaps->memory, heaps->bytes) != MIRE_READ_OK)
        abort();
    mire__read_blocks(&reader, sum_up, &sums);
    took = (cpu_ns() - begin) / 1e6;
    if (sums.count != BLOCKS)
        abort();
    print("read_1m_blocks", took, "ms", 300);
    print("read_1m_blocks_memory", resident_mib() - before, "MiB", 32);
    print("tables_of_1m_blocks", (double)heaps->heap.header->claimed_bytes / (1 << 20), "MiB", 20);
    free(sums.by_node);
    heaps_free(heaps);
}

int main(void)
{
    time_pairs("pair_small_hot", 1000, 48, 64, 400000, MIRE_FLAG_ONE_PHASE, 1.6);
    time_pairs("pair_small_hot_any_allocator", 1000, 48, 64, 400000, 0, 1.6);
    time_pairs("pair_small_1m_live", 1000000, 48, 64, 400000, MIRE_FLAG_ONE_PHASE, 0.7);
    time_pairs("pair_large_hot", 1000, 5000, 8192, 200000, MIRE_FLAG_ONE_PHASE, 5);
    print("free_dismissed", time_dismissal(), "ns", 5);
    print("longest_push_growing", longest_growth(true), "us", 50);
    print("longest_set_growing", longest_growth(false), "us", 50);
    print("bytes_per_block_32", bytes_per_block(500000, 24, 32), "B", 16);
    print("bytes_per_block_64", bytes_per_block(500000, 50, 64), "B", 16);
    print("bytes_per_block_208", bytes_per_block(400000, 192, 208), "B", 40);
    print("bytes_per_block_272", bytes_per_block(300000, 256, 272), "B", 40);
    print("bytes_per_block_4096", bytes_per_block(300000, 4000, 4096), "B", 40);
    read_a_million();
    return missed;
}
