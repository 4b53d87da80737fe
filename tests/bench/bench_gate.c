/*
 * bench_gate.c - measures the cost of the gate in a loop: the poll call of a turn with the gate, without it, and on a
 * thread that is not watched.
 *
 * Rounds of all kinds alternate and are shorter than a scheduler's time slice, so that a busy machine disturbs few of
 * them. The result is the median, and for the added cost the median of the differences between neighbours. gettimeofday
 * in the same run calibrates the machine.
 */
#include "gate/gate.h"
#include "gate/hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define ROUNDS 401
#define CALLS  2000

enum { BARE, GATED, UNWATCHED, PAIR, TIME_OF_DAY, KINDS };

static _Atomic uint32_t wake;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* All calls of one kind have one call site, as in a loop. `ms`: length of the sleep. */
static __attribute__((noinline)) void call(int kind, int ms)
{
    struct timeval day;
    enum mire__wait nested;

    switch (kind) {
    case BARE:
        poll(NULL, 0, ms);
        break;
    case PAIR:
        nested = mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
        if (ms)
            poll(NULL, 0, ms);
        mire__gate_as_wait_end(nested);
        break;
    case TIME_OF_DAY:
        gettimeofday(&day, NULL);
        break;
    default:
        mire__hook_poll(NULL, 0, ms);
    }
}

/* The first round of a kind sleeps once, as every loop does; after that its calls are known. */
static __attribute__((noinline)) double round_ns(int kind, int calls, int ms)
{
    double begin = seconds();

    for (int i = 0; i < calls; i++)
        call(kind, ms);
    return (seconds() - begin) / calls * 1e9;
}

static void *round_elsewhere(void *out)
{
    *(double *)out = round_ns(UNWATCHED, CALLS, 0);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof(double), compare);
    return values[ROUNDS / 2];
}

static int say(const char *name, double value, double goal)
{
    printf("%s %.1f ns | goal <= %.1f | %s\n", name, value, goal, value <= goal ? "ok" : "short");
    return value > goal;
}

int main(void)
{
    static double ns[KINDS][ROUNDS];
    static double gated[ROUNDS], unwatched[ROUNDS];
    const struct gate_options options = {.wake = &wake};
    int shorts = 0;

    mire__hooks_bind(RTLD_DEFAULT);
    mire__gate_open(&options);
    mire__gate_enter(0, NULL);
    for (int kind = 0; kind < KINDS; kind++)
        round_ns(kind, 1, 5);
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            pthread_t thread;

            if (kind != UNWATCHED)
                ns[kind][round] = round_ns(kind, CALLS, 0);
            else if (pthread_create(&thread, NULL, round_elsewhere, &ns[kind][round]) != 0 ||
                     pthread_join(thread, NULL) != 0)
                return 2;
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        gated[round] = ns[GATED][round] - ns[BARE][round];
        unwatched[round] = ns[UNWATCHED][round] - ns[BARE][round];
    }
    printf("poll_bare %.1f ns\ngettimeofday %.1f ns\npoll_gated %.1f ns\n", median(ns[BARE]), median(ns[TIME_OF_DAY]),
           median(ns[GATED]));
    shorts += say("gate_turn", median(ns[PAIR]), median(ns[TIME_OF_DAY]));
    shorts += say("poll_gated_adds", median(gated), 0.1 * median(ns[BARE]));
    shorts += say("poll_unwatched_adds", median(unwatched), 0.1 * median(ns[BARE]));
    return shorts ? 1 : 0;
}
