/*
 * loop_odds.c - a pinged queue on a condition variable. It hangs for the threshold and half a ping interval, at
 * instants independent of the pings: half of these hangs must be noticed. $MIRE_TEST_SEED repeats a run.
 */
#include "planted.h"

#include <mire/ping.h>
#include <pthread.h>
#include <stdlib.h>

enum { TRIES = 40, INTERVAL_MS = 100, THRESHOLD_MS = 250, LENGTH_MS = THRESHOLD_MS + INTERVAL_MS / 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static uint64_t token; /* 0: none queued */

static int post(void *unused, uint64_t new_token)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    token = new_token;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void serve_for(long ms)
{
    const uint64_t end_ns = planted_now_ns() + (uint64_t)ms * 1000000;
    const struct timespec end = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};

    pthread_mutex_lock(&lock);
    while (planted_now_ns() < end_ns) {
        if (token)
            mire_ping_answer(token);
        token = 0;
        pthread_cond_clockwait(&filled, &lock, CLOCK_MONOTONIC, &end);
    }
    if (token) /* posted during the end of the last wait */
        mire_ping_answer(token);
    token = 0;
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    const struct timespec hang = {0, LENGTH_MS * 1000000L};
    const char *given = getenv("MIRE_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : planted_now_ns();
    unsigned short state[3] = {(unsigned short)seed, (unsigned short)(seed >> 16), (unsigned short)(seed >> 32)};

    (void)argc;
    planted_start_with(argv, THRESHOLD_MS);
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    planted_expect(mire_ping_start(post, NULL, INTERVAL_MS));
    for (int i = 0; i < TRIES; i++) {
        serve_for(INTERVAL_MS + 20 + (long)(erand48(state) * INTERVAL_MS));
        nanosleep(&hang, NULL);
    }
    serve_for(INTERVAL_MS);
    printf("tried %d MIRE_TEST_SEED=%llu\n", TRIES, (unsigned long long)(seed & 0xffffffffffff));
    return 0;
}
