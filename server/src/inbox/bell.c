/*
 * bell.c - a counter of rings under a mutex; waiters compare it with the last one they saw, so no ring is lost.
 */
#include "inbox/inbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct inbox_bell {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    uint64_t count; /* rings so far; guarded by mutex */
};

int inbox_bell_new(struct inbox_bell **out)
{
    pthread_condattr_t monotonic;
    struct inbox_bell *bell = calloc(1, sizeof *bell);
    if (!bell)
        return MIRE_FAULT_MEMORY;
    pthread_mutex_init(&bell->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&bell->rung, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = bell;
    return 0;
}

void inbox_bell_free(struct inbox_bell *bell)
{
    if (!bell)
        return;
    pthread_cond_destroy(&bell->rung);
    pthread_mutex_destroy(&bell->mutex);
    free(bell);
}

void inbox_ring(struct inbox_bell *bell)
{
    if (!bell)
        return;
    pthread_mutex_lock(&bell->mutex);
    bell->count++;
    pthread_cond_broadcast(&bell->rung);
    pthread_mutex_unlock(&bell->mutex);
}

bool inbox_wait(struct inbox_bell *bell, uint64_t *seen, int timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&bell->mutex);
    int rc = 0;
    while (bell->count == *seen && !rc)
        rc = pthread_cond_timedwait(&bell->rung, &bell->mutex, &until);
    bool rang = bell->count != *seen;
    *seen = bell->count;
    pthread_mutex_unlock(&bell->mutex);
    return rang;
}
