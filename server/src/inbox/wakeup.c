/*
 * wakeup.c - a counter of wake-ups under a mutex. A waiter compares it with the last value that it saw, so no wake-up
 * is lost.
 */
#include "inbox/inbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct inbox_wakeup {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    uint64_t count; /* wake-ups so far; guarded by mutex */
};

int inbox_wakeup_new(struct inbox_wakeup **out)
{
    pthread_condattr_t monotonic;

    struct inbox_wakeup *wakeup = calloc(1, sizeof *wakeup);
    if (!wakeup)
        return MIRE_FAULT_MEMORY;
    pthread_mutex_init(&wakeup->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&wakeup->rung, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = wakeup;
    return 0;
}

void inbox_wakeup_free(struct inbox_wakeup *wakeup)
{
    if (!wakeup)
        return;
    pthread_cond_destroy(&wakeup->rung);
    pthread_mutex_destroy(&wakeup->mutex);
    free(wakeup);
}

void inbox_wake(struct inbox_wakeup *wakeup)
{
    if (!wakeup)
        return;
    pthread_mutex_lock(&wakeup->mutex);
    wakeup->count++;
    pthread_cond_broadcast(&wakeup->rung);
    pthread_mutex_unlock(&wakeup->mutex);
}

bool inbox_wait(struct inbox_wakeup *wakeup, uint64_t *seen, int timeout_ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&wakeup->mutex);
    int rc = 0;
    while (wakeup->count == *seen && !rc)
        rc = pthread_cond_timedwait(&wakeup->rung, &wakeup->mutex, &until);
    bool rang = wakeup->count != *seen;
    *seen = wakeup->count;
    pthread_mutex_unlock(&wakeup->mutex);
    return rang;
}
