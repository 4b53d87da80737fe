/*
 * loop_marked.c - a queue on a condition variable, which the gate cannot see. argv[2]:
 *
 *     marked   the turns are marked by hand
 *     pinged   the queue is pinged
 *     second   as pinged, on a second watched thread, while the first one idles
 */
#define _GNU_SOURCE
#include "planted.h"

#include <mire/ping.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static bool marked;
static int queued;
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

static void *produce(void *unused)
{
    const unsigned after_ms[] = {IDLE_MS, HANG_MS + REST_MS};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        const struct timespec pause = {after_ms[i] / 1000, after_ms[i] % 1000 * 1000000};

        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        queued++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Wait for `count` jobs, and answer pings meanwhile. */
static void take(int count)
{
    if (marked)
        mire_loop_leave();
    pthread_mutex_lock(&lock);
    while (queued < count) {
        if (token)
            mire_ping_answer(token);
        token = 0;
        pthread_cond_wait(&filled, &lock);
    }
    pthread_mutex_unlock(&lock);
    if (marked)
        mire_loop_enter();
}

static void *serve(void *unused)
{
    pthread_t producer;

    (void)unused;
    planted_expect(mire_watch_thread("server")); /* fails on the first thread, which is watched already */
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    if (!marked)
        planted_expect(mire_ping_start(post, NULL, PING_MS));
    pthread_create(&producer, NULL, produce, NULL);
    take(1);
    planted_hang();
    take(2);
    pthread_join(producer, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t second;

    if (argc != 3)
        return 2;
    marked = strcmp(argv[2], "marked") == 0;
    planted_start(argv);
    if (strcmp(argv[2], "second") != 0) {
        serve(NULL);
        return 0;
    }
    pthread_create(&second, NULL, serve, NULL);
    while (pthread_tryjoin_np(second, NULL) != 0)
        poll(NULL, 0, 50);
    return 0;
}
