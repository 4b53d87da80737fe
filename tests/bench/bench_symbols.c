/*
 * bench_symbols.c - measures the conversion of debug files and look-ups of addresses, beside llvm-gsymutil on the same
 * files in the same run.
 *
 *     bench_symbols DIR        DIR as tests/support/debug-files.sh fills it
 *
 * Each conversion is a process of its own, so that the system reports its processor time and memory. Times are the
 * best of several alternating rounds, since disturbances only lengthen them.
 *
 * The speed of look-ups depends on the host as well. Each is therefore also compared with a floor, which is measured in
 * the same rounds and contains only unavoidable work.
 *
 *     look-ups      floor: a bare binary search over as many sorted numbers as the file has segments. On the host where
 *                   the goals were set it took 27 ns for libc and 77 ns for libjvm; the goals are 40 and 100, that is
 *                   1.5 and 1.3 times.
 *
 *     one, warm     a single look-up among 3,000 recurring addresses, like those of a report: 100 threads of 30 frames.
 *                   Its goal is for this.
 *
 *     one, cold     a single look-up among 131,072 addresses all over the code, which are in no processor cache. It
 *                   waits for page, block, segments, one scope per frame, and then the names at once: four dependent
 *                   cache misses and one per frame. The floor is a chain of as many random cache misses over as much
 *                   memory as the file has. Computing may take as long again: 2 times.
 *
 * If a goal is missed and the goal relative to the floor is met, the host is slow, and the miss does not count. Two
 * threads have no floor: the time of two independent conversions is printed, and their goal always counts.
 */
#include "floor.h"
#include "object/object.h"
#include "cache/cache.h"
#include "cache/convert.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGA 1e6

enum {
    ROUNDS = 3,
    PAIRS = 9 /* of conversions with one thread and with two */,
    ADDRESSES = 1 << 17,
    WARM = 3000,
    LOOK_ROUNDS = 15
};

#define TIMES_SEARCH(large) ((large) ? 1.3 : 1.5)
#define TIMES_CHAIN         2

static const struct file {
    const char *name;
    bool large;   /* more than 100 MB of DWARF */
    double per_s; /* millions of look-ups per second */
} files[] = {{"libc", false, 25},
             {"libstdc++", false, 25},
             {"libpython", false, 25},
             {"libjvm", true, 10}, /* of the large ones, the file with compressed sections */
             {"ceph-osd", true, 10}};

static int missed;

static bool say(const char *what, const char *file, double value, const char *unit, const char *sign, double goal)
{
    bool good = !strcmp(sign, ">=") ? value >= goal : value <= goal;
    printf("%-28s %-10s %10.2f %-8s | goal %s %g | %s\n", what, file, value, unit, sign, goal, good ? "ok" : "short");
    fflush(stdout);
    return good;
}

static void tell(const char *what, const char *file, double value, const char *unit, const char *sign, double goal)
{
    missed += !say(what, file, value, unit, sign, goal);
}

struct cost {
    double cpu_s;
    double wall_s;
    double peak_bytes;
};

/* Run work(context) in a child. */
static struct cost cost_of(int (*work)(void *context), void *context)
{
    struct rusage usage;
    int status;
    double begin = floor_now(CLOCK_MONOTONIC);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        _exit(work(context));
    wait4(pid, &status, 0, &usage);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "bench_symbols: a child failed\n");
        exit(2);
    }
    return (struct cost){(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / MEGA,
                         floor_now(CLOCK_MONOTONIC) - begin, (double)usage.ru_maxrss * 1024};
}

struct conversion {
    const char *from;
    const char *to;
    unsigned threads;
    const char *twin; /* output of convert_twice's second conversion; NULL for others */
};

static int convert_file(void *context)
{
    const struct conversion *c = context;
    struct file_bytes bytes;
    struct object *object;
    struct convert_facts facts;
    if (!file_bytes_map(&bytes, c->from) || object_open(&object, &bytes, NULL, 0, c->threads))
        return 1;
    struct convert_source source = {.objects = {object}, .object_count = 1};
    int fd = open(c->to, O_RDWR | O_CREAT | O_TRUNC, 0600);
    return convert(&facts, fd, &source, c->threads) != NULL;
}

static int convert_gsym(void *context)
{
    const struct conversion *c = context;
    char in[4096], out[4096];
    snprintf(in, sizeof in, "--convert=%s", c->from);
    snprintf(out, sizeof out, "--out-file=%s", c->to);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    execlp("llvm-gsymutil-16", "llvm-gsymutil-16", "--num-threads=1", in, out, (char *)NULL);
    return 127;
}

/* Two independent conversions at once. */
static int convert_twice(void *context)
{
    const struct conversion *c = context;
    struct conversion other = {c->from, c->twin, c->threads, NULL};
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(convert_file(&other));
    int failed = convert_file(context);
    return waitpid(pid, &status, 0) != pid || status || failed;
}

#define NO_COST ((struct cost){1e9, 1e9, 0})

static void try_once(struct cost *best, int (*work)(void *context), struct conversion *c)
{
    unlink(c->to); /* truncating an old file would wait for the disk */
    if (c->twin)
        unlink(c->twin);
    struct cost cost = cost_of(work, c);
    best->cpu_s = cost.cpu_s < best->cpu_s ? cost.cpu_s : best->cpu_s;
    best->wall_s = cost.wall_s < best->wall_s ? cost.wall_s : best->wall_s;
    best->peak_bytes = cost.peak_bytes > best->peak_bytes ? cost.peak_bytes : best->peak_bytes;
}

static double size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (double)st.st_size;
}

static double dwarf_bytes(const char *path)
{
    struct file_bytes bytes;
    struct object *object;
    if (!file_bytes_map(&bytes, path) || object_open(&object, &bytes, NULL, 0, 1)) {
        fprintf(stderr, "bench_symbols: %s cannot be read: tests/support/debug-files.sh makes it\n", path);
        exit(2);
    }
    double total = (double)object->dwarf_bytes;
    object_close(object);
    file_bytes_unmap(&bytes);
    return total;
}

static void measure_conversion(const struct file *file, const char *dir)
{
    char from[4096], packed[4096], cache[4096], twin[4096], gsym[4096];
    snprintf(from, sizeof from, "%s/%s", dir, file->name);
    snprintf(packed, sizeof packed, "%s/%s.zlib", dir, file->name);
    snprintf(cache, sizeof cache, "%s/%s.cache", dir, file->name);
    snprintf(twin, sizeof twin, "%s/%s.twin", dir, file->name);
    snprintf(gsym, sizeof gsym, "%s/%s.gsym", dir, file->name);
    double dwarf = dwarf_bytes(from);
    struct conversion one = {from, cache, 1, NULL}, two = {from, cache, 2, NULL}, pair = {from, cache, 1, twin};
    struct conversion zlib = {packed, cache, 1, NULL}, peer = {from, gsym, 1, NULL};
    if (!file->large) { /* too short for the clock of rusage: only the size is measured */
        convert_file(&one);
    } else {
        struct cost theirs = NO_COST, alone = NO_COST, both = NO_COST, twice = NO_COST, inflated = NO_COST;
        try_once(&theirs, convert_gsym, &peer);
        for (int i = 0; i < PAIRS; i++) { /* two threads are disturbed more often than one */
            try_once(&alone, convert_file, &one);
            try_once(&both, convert_file, &two);
        }
        for (int i = 0; i < ROUNDS; i++) {
            try_once(&twice, convert_twice, &pair);
            try_once(&inflated, convert_file, &zlib);
        }
        unlink(twin);
        tell("convert", file->name, dwarf / MEGA / alone.cpu_s, "MB/s", ">=", 250);
        tell("convert beside gsymutil", file->name, theirs.cpu_s / alone.cpu_s, "times", ">=", 2);
        tell("convert, two threads", file->name, alone.wall_s / both.wall_s, "times", ">=", 1.6);
        printf("  two conversions at once: %.2f times\n", 2 * alone.wall_s / twice.wall_s);
        tell("memory", file->name, alone.peak_bytes / dwarf, "of DWARF", "<=", 1.3);
        tell("convert from zlib", file->name, dwarf / MEGA / inflated.cpu_s, "MB/s", ">=", 180);
        tell("memory from zlib", file->name, inflated.peak_bytes / dwarf, "of DWARF", "<=", 1.6);
        tell("cache beside GSYM", file->name, size_of(cache) / size_of(gsym), "times", "<=", 0.9);
    }
    tell("cache", file->name, 100 * size_of(cache) / dwarf, "%", "<=", file->large ? 8 : 11);
}

/* Addresses all over the code. */
static void scatter(uint64_t *addresses, size_t count, const struct cache_head *head)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        addresses[i] = head->base + (seed >> 33) % head->high;
    }
}

/* Reads the first byte of every text, as printing would. */
static uint64_t touch(const struct symbol_frame *frames, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (frames[i].function ? (unsigned char)frames[i].function[0] : 0u) +
               (frames[i].file ? (unsigned char)frames[i].file[0] : 0u) + frames[i].line;
    return sum;
}

/* Processor seconds for all addresses. */
static double look_all(const struct module *module, const uint64_t *addresses, size_t count)
{
    static struct symbol_frame frames[2 * MIRE_SYMBOL_ROOM];
    static struct symbol_chain chains[256];
    double begin = floor_now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sum = 0;
    for (size_t at = 0, done; at < count; at += done) {
        size_t these = count - at < 256 ? count - at : 256;
        done = module_lookup_all(frames, 2 * MIRE_SYMBOL_ROOM, chains, module, addresses + at, these);
        sum += touch(frames, chains[done - 1].first + chains[done - 1].count);
    }
    floor_sink += sum;
    return floor_now(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static double frames_of(const struct module *module, const uint64_t *addresses)
{
    static struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    size_t count = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        count += module_lookup(frames, module, addresses[i]);
    return (double)count / ADDRESSES;
}

/* Processor seconds for all addresses, one look-up each. */
static double look_singly(const struct module *module, const uint64_t *addresses)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    double begin = floor_now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < ADDRESSES; i++)
        floor_sink += touch(frames, module_lookup(frames, module, addresses[i]));
    return floor_now(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median nanoseconds of a single look-up, in groups of 16, since reading the clock takes longer than one look-up. */
static double median_ns(const struct module *module, const uint64_t *addresses)
{
    static double times[ADDRESSES / 16];
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    for (size_t i = 0; i < ADDRESSES / 16; i++) {
        double begin = floor_now(CLOCK_MONOTONIC);
        for (size_t k = 0; k < 16; k++)
            floor_sink += touch(frames, module_lookup(frames, module, addresses[i * 16 + k]));
        times[i] = (floor_now(CLOCK_MONOTONIC) - begin) * 1e9 / 16;
    }
    qsort(times, ADDRESSES / 16, sizeof *times, compare);
    return times[ADDRESSES / 32];
}

static double open_us(const char *path)
{
    double best = 1e9;
    for (int i = 0; i < 50; i++) {
        struct module *module;
        double begin = floor_now(CLOCK_MONOTONIC);
        if (cache_open(&module, path, NULL, 0, false))
            exit(2);
        double us = (floor_now(CLOCK_MONOTONIC) - begin) * 1e6;
        best = us < best ? us : best;
        cache_close(module);
    }
    return best;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static void measure_lookups(const struct file *file, const struct module *module, double bytes)
{
    static uint64_t addresses[ADDRESSES];
    const struct cache_head *head = cache_head(module);
    size_t start_count = (size_t)head->block_count * MIRE_CACHE_SEGMENTS;
    uint32_t *starts = floor_starts(start_count, head->high);
    struct floor_line *lines = floor_lines(bytes);
    double all = 1e9, search = 1e9, single = 1e9, chain = 1e9, warm_all = 1e9;
    scatter(addresses, ADDRESSES, head);
    size_t steps = (size_t)(ADDRESSES * (4 + frames_of(module, addresses)));
    for (int i = 0; i < LOOK_ROUNDS; i++) {
        all = lesser(all, look_all(module, addresses, ADDRESSES));
        search = lesser(search, floor_search(starts, start_count, addresses, ADDRESSES, head->base));
        single = lesser(single, look_singly(module, addresses));
        chain = lesser(chain, floor_chase(lines, steps));
    }
    free(starts);
    free(lines);
    double cold_ns = median_ns(module, addresses);
    for (size_t i = WARM; i < ADDRESSES; i++)
        addresses[i] = addresses[i % WARM];
    for (int i = 0; i < LOOK_ROUNDS; i++)
        warm_all = lesser(warm_all, look_all(module, addresses, ADDRESSES));
    bool good = say("look-ups", file->name, ADDRESSES / all / MEGA, "M/s", ">=", file->per_s);
    good |= say("look-ups beside a search", file->name, all / search, "times", "<=", TIMES_SEARCH(file->large));
    missed += !good;
    tell("one look-up, warm (median)", file->name, median_ns(module, addresses), "ns", "<=", 250);
    tell("one, cold, beside a chain", file->name, single / chain, "times", "<=", TIMES_CHAIN);
    printf("  %.1f ns one, cold (median), %.1f ns a search, %.1f ns a line of the chain, %.2f lines; warm %.1f M/s\n",
           cold_ns, search * 1e9 / ADDRESSES, chain * 1e9 / (double)steps, (double)steps / ADDRESSES,
           ADDRESSES / warm_all / MEGA);
}

static struct module *measure_looking(const struct file *file, const char *dir)
{
    char path[4096];
    struct module *module;
    snprintf(path, sizeof path, "%s/%s.cache", dir, file->name);
    if (cache_open(&module, path, NULL, 0, true))
        exit(2);
    measure_lookups(file, module, size_of(path));
    tell("open", file->name, open_us(path), "us", "<=", 50);
    return module;
}

/* 100 threads of 30 frames over five images with open caches. */
static void measure_report(struct module *const modules[5])
{
    static uint64_t addresses[600];
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        double s = 0;
        for (int m = 0; m < 5; m++) {
            scatter(addresses, 600, cache_head(modules[m]));
            s += look_all(modules[m], addresses, 600);
        }
        best = s < best ? s : best;
    }
    tell("a report of 3000 frames", "all five", best * 1e3, "ms", "<=", 1);
}

int main(int argc, char **argv)
{
    struct module *modules[5];
    if (argc != 2) {
        fprintf(stderr, "usage: bench_symbols DIR\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        measure_conversion(&files[i], argv[1]);
        modules[i] = measure_looking(&files[i], argv[1]);
    }
    measure_report(modules);
    return missed ? 1 : 0;
}
