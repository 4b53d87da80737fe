/*
 * bench_report.c - measures the memory report of a killed run with a million blocks, as the next start makes it: a
 * process of its own reads the tables, seals the report and keeps the file.
 *
 *     bench_report              makes the tables, then runs itself again as
 *     bench_report build DIR    and prints the cost of that
 *
 * 50,000 stacks of 35 frames, as in a browser or an office program: the outer half of the frames is common.
 */
#include "report/memory.h"

#include "platform/platform.h"
#include "support/boxes.h"
#include "support/heaps.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 1000000u
#define STACKS 50000u
#define DEPTH  35u
#define COMMON 18u
#define BUDGET (64u << 20)
#define IMAGE  UINT64_C(0x555555554000)

static uint32_t add_stack(struct heaps *heaps, uint32_t number)
{
    uint64_t addresses[DEPTH];
    uint32_t nodes[DEPTH];

    for (uint32_t k = 0; k < DEPTH; k++) {
        /* 4,000 call sites each; the digits of a number select the branch at each frame after the common ones. */
        uint64_t way = k < COMMON ? 0 : number >> (k < COMMON + 8 ? 2 * (COMMON + 8 - k) : 0);

        addresses[DEPTH - 1 - k] = IMAGE + (k * 0x1000 + way * 2654435761u % 4000 * 16) % 0x4000000;
    }
    mire__nodes_as_push(nodes, &heaps->heap, 0, addresses, DEPTH);
    return nodes[0];
}

/* Most call sites allocate one size; every fourth stack allocates all sizes. */
static uint64_t size_of(uint32_t stack, uint32_t block)
{
    return 16 + (stack % 4 ? stack : block) * 7919u % 1200;
}

static void make(const char *path)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint32_t *nodes = calloc(STACKS, sizeof(*nodes)), set = 0;
    struct blackbox_facts facts = box_facts();
    FILE *file;

    heaps_image(heaps, IMAGE, 0x4000000, "/usr/bin/mapview");
    mire__extra_begin(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), &facts);
    for (uint32_t i = 0; i < STACKS; i++)
        nodes[i] = add_stack(heaps, i);
    for (uint32_t i = 0; i < BLOCKS; i++)
        set += heaps_set(heaps, 0x10000000 + (uint64_t)i * 96, size_of(i * 31u % STACKS, i), nodes[i * 31u % STACKS]);
    file = fopen(path, "wb");
    if (set != BLOCKS || !file || fwrite(heaps->memory, 1, heaps->bytes, file) != heaps->bytes || fclose(file) != 0) {
        fprintf(stderr, "bench_report: the tables could not be made (%u blocks)\n", set);
        exit(1);
    }
    free(nodes);
    heaps_free(heaps);
}

/* Peak resident memory, including pages of the mapped file. ru_maxrss would include the parent's. */
static long peak_kib(void)
{
    char text[4096] = "";
    const char *at;

    mire__file_read(text, sizeof(text), "/proc/self/status");
    at = strstr(text, "VmHWM:");
    return at ? strtol(at + 6, NULL, 10) : -1;
}

static double seconds(void)
{
    return (double)mire__now_ns() / 1e9;
}

/* As the next start does. Prints seconds, peak KiB, bytes of the report. */
static int build(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct exit_end end = {.verdict = {.verdict = MIRE_EXIT_FOOM}, .ground = MIRE_GROUND_UNKNOWN, .seen_wall_ms = 1};
    struct store_item items[2];
    struct store *store;
    double begin = seconds();
    bool sealed;

    if (mire__store_open(&store, dir, &caps) != MIRE_OK ||
        mire__report_memory_of_run(&sealed, store, "bench", NULL, &end, 1) != MIRE_OK ||
        mire__store_list(items, 2, store) != 1)
        return 1;
    printf("%f %ld %llu\n", seconds() - begin, peak_kib(), (unsigned long long)items[0].bytes);
    return 0;
}

static void clean(const char *dir)
{
    char command[600];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    if (system(command) != 0)
        fprintf(stderr, "bench_report: %s is left\n", dir);
}

static int line(const char *name, double value, const char *unit, double goal)
{
    bool good = value <= goal;

    printf("%-28s %10.1f %-4s | goal <= %g | %s\n", name, value, unit, goal, good ? "ok" : "short");
    return !good;
}

int main(int argc, char **argv)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    char dir[] = "/tmp/mire-bench-XXXXXX", path[512], command[1024];
    struct store *store;
    double took = 0;
    unsigned long long kib = 0, bytes = 0;
    FILE *child;
    int failed = 1;

    if (argc == 3)
        return build(argv[2]);
    if (!mkdtemp(dir) || mire__store_open(&store, dir, &caps) != MIRE_OK)
        return 1;
    snprintf(path, sizeof(path), "%s/box/bench.heap", dir);
    make(path);
    snprintf(command, sizeof(command), "exec '%s' build '%s'", argv[0], dir);
    child = popen(command, "r");
    if (child && fscanf(child, "%lf %llu %llu", &took, &kib, &bytes) == 3) {
        failed = line("report of 1,000,000 blocks", took * 1e3, "ms", 300);
        failed |= line("  memory of the process", (double)kib / 1024, "MiB", 32);
        failed |= line("  size compressed", (double)bytes / 1e3, "KB", 40);
    }
    if (child && pclose(child) != 0)
        failed = 1;
    mire__store_close(store);
    clean(dir);
    return failed;
}
