/*
 * The server's keys, on stacks with known answers:
 *
 *   caller1_of_kernel  and similar ones: kernel_logs.h. `bench_keys FOLDER` judges only other logs in that form
 *   key_bcubed_f1      agreement of issues made by the key alone with Eclipse's links (eclipse.h)
 *   key_us             CPU time of feature, key and issue of one report, median, after symbolication
 *   key_beside_hash    the same relative to a floor of the same rounds: one hash, byte by byte, over its names
 *
 * Each name is read six times: for its language, its type, its rules (hashed), its suffix, its function without
 * variants (hashed), and the tree (hashed). All other work may take as long again. If key_us is missed and
 * key_beside_hash met, the host is slow, and the miss does not count.
 *
 * A stack passes through feature_find as a report of one sample; of Eclipse's reports the longest stack is taken.
 */
#include "cluster/cluster.h"
#include "eclipse.h"
#include "feature/feature.h"
#include "kernel_logs.h"
#include "known.h"
#include "one_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DATA   MIRE_SOURCE_DIR "/../shared/data/stacks"
#define KERNEL DATA "/syzkaller"

#define GOAL_F1    0.78
#define GOAL_US    20.0
#define GOAL_TIMES 12.0

enum { ROUNDS = 3 };

static struct rules *rules;

static bool tell(const char *name, double value, const char *unit, const char *sign, double goal)
{
    bool met = *sign == '>' ? value >= goal : value <= goal;
    printf("%-28s %8.3f %s | goal %s %.3f | %s\n", name, value, unit, sign, goal, met ? "ok" : "short");
    return met;
}

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A report's key, and the shortest time to make it. */
struct keyed {
    uint8_t key[MIRE_FEATURE_KEY];
    int64_t issue;
    double us;
    double hash_us; /* one hash over its names */
};

static volatile uint64_t sink;

static double hash_names(const struct eclipse_stack *stack)
{
    double begin = cpu_us();
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < stack->count; i++)
        for (const char *at = stack->names[i]; *at; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    sink += hash;
    return cpu_us() - begin;
}

static double least(double known, double now)
{
    return known && known < now ? known : now;
}

static bool key_one(struct keyed *keyed, struct arena *arena, struct known *known, const struct eclipse_stack *from)
{
    static struct one_stack stack;
    const struct cluster_index index = known_index(known);
    struct issue_row row = {.app_id = 1};
    struct feature feature;
    one_stack_fill(&stack, from->names, from->count, "");
    stack.report.event.trigger = "exception";
    stack.report.event.name = from->exception;
    arena_reset(arena);
    double begin = cpu_us();
    if (feature_find(&feature, arena, &stack.doc, &stack.report, rules, NULL))
        return false;
    memcpy(row.feature_key, feature.key, sizeof row.feature_key);
    memcpy(row.blame_key, feature.blame, sizeof row.blame_key);
    row.joins = feature.joins;
    bool good = cluster_assign(&keyed->issue, &index, &row) > 0;
    double us = cpu_us() - begin;
    keyed->us = least(keyed->us, us);
    keyed->hash_us = least(keyed->hash_us, hash_names(from));
    return good;
}

static int by_us(const void *a, const void *b)
{
    double left = ((const struct keyed *)a)->us, right = ((const struct keyed *)b)->us;
    return (left > right) - (left < right);
}

static int by_hash_us(const void *a, const void *b)
{
    double left = ((const struct keyed *)a)->hash_us, right = ((const struct keyed *)b)->hash_us;
    return (left > right) - (left < right);
}

/* Prints medians. */
static bool tell_times(struct keyed *keyed, size_t count)
{
    qsort(keyed, count, sizeof *keyed, by_us);
    double us = keyed[count / 2].us;
    qsort(keyed, count, sizeof *keyed, by_hash_us);
    bool met = tell("key_us", us, "us", "<=", GOAL_US);
    return tell("key_beside_hash", us / keyed[count / 2].hash_us, "times", "<=", GOAL_TIMES) || met;
}

static bool measure_eclipse(void)
{
    static struct known known;
    struct eclipse_report *reports;
    struct arena arena;
    size_t count;
    if (!eclipse_read(&reports, &count, ECLIPSE_FILE)) {
        printf("skipped: %s is not there\n", ECLIPSE_FILE);
        return true;
    }
    struct keyed *keyed = calloc(count + 1, sizeof *keyed);
    int64_t *put = calloc(count + 1, sizeof *put);
    arena_init(&arena, 64u << 20);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++)
            if (!key_one(&keyed[i], &arena, &known, eclipse_longest(&reports[i])))
                return false;
    arena_fini(&arena);
    for (size_t i = 0; i < count; i++)
        put[i] = known.shown[keyed[i].issue];
    const struct bcubed judged = eclipse_judge(reports, 0, count, put);
    printf("%zu reports, %zu of them with a duplicate: precision %.3f, recall %.3f\n", count, judged.judged,
           judged.precision, judged.recall);
    bool met = tell("key_bcubed_f1", judged.f1, "of 1", ">=", GOAL_F1);
    met &= tell_times(keyed, count);
    free(keyed);
    free(put);
    return met;
}

int main(int argc, char **argv)
{
    struct rules_fault fault;
    if (rules_builtin(&rules, &fault) != MIRE_RULES_OK) {
        printf("%s:%u: %s\n", fault.pack, fault.line, fault.text);
        return 1;
    }
    bool met = kernel_logs_measure(rules, argc > 1 ? argv[1] : KERNEL, argc < 2);
    if (argc < 2)
        met &= measure_eclipse();
    rules_free(rules);
    return met ? 0 : 1;
}
