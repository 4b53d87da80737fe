/* slow.c - see slow.h. A short table under a mutex. */
#include "api/slow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)

struct slow {
    pthread_mutex_t mutex;
    struct slow_question questions[MIRE_SLOW_MAX]; /* guarded by mutex */
    size_t count;                                  /* guarded by mutex */
};

struct slow *slow_new(void)
{
    struct slow *slow = calloc(1, sizeof *slow);
    if (slow)
        pthread_mutex_init(&slow->mutex, NULL);
    return slow;
}

void slow_free(struct slow *slow)
{
    if (slow)
        pthread_mutex_destroy(&slow->mutex);
    free(slow);
}

/* NULL: it is not in the table. */
static struct slow_question *find(struct slow *slow, const struct slow_question *question)
{
    for (size_t i = 0; i < slow->count; i++) {
        struct slow_question *one = &slow->questions[i];
        if (one->days == question->days && !strcmp(one->app, question->app) && !strcmp(one->pattern, question->pattern))
            return one;
    }
    return NULL;
}

/* A place for a new one. */
static struct slow_question *place(struct slow *slow)
{
    if (slow->count < MIRE_SLOW_MAX)
        return &slow->questions[slow->count++];
    struct slow_question *oldest = slow->questions;
    for (size_t i = 1; i < slow->count; i++)
        if (slow->questions[i].last_us < oldest->last_us)
            oldest = &slow->questions[i];
    return oldest;
}

bool slow_is_known(struct slow *slow, const struct slow_question *question, int64_t now_us)
{
    if (!slow)
        return false;
    pthread_mutex_lock(&slow->mutex);
    const struct slow_question *one = find(slow, question);
    bool is_known = one && now_us - one->last_us < MIRE_SLOW_FOR_S * SECOND_US;
    pthread_mutex_unlock(&slow->mutex);
    return is_known;
}

void slow_note(struct slow *slow, const struct slow_question *question, int64_t took_us, int64_t now_us)
{
    if (!slow || took_us < MIRE_SLOW_US)
        return;
    pthread_mutex_lock(&slow->mutex);
    struct slow_question *one = find(slow, question);
    if (!one) {
        one = place(slow);
        *one = *question;
        one->times = one->longest_us = 0;
    }
    one->times++;
    one->last_us = now_us;
    if (took_us > one->longest_us)
        one->longest_us = took_us;
    pthread_mutex_unlock(&slow->mutex);
}

static int by_longest(const void *a, const void *b)
{
    int64_t x = ((const struct slow_question *)a)->longest_us, y = ((const struct slow_question *)b)->longest_us;
    return (x < y) - (x > y);
}

size_t slow_list(struct slow_question *out, size_t max, struct slow *slow, int64_t now_us)
{
    struct slow_question all[MIRE_SLOW_MAX];
    size_t count = 0;
    if (!slow)
        return 0;
    pthread_mutex_lock(&slow->mutex);
    for (size_t i = 0; i < slow->count; i++)
        if (now_us - slow->questions[i].last_us < MIRE_SLOW_KEEP_S * SECOND_US)
            all[count++] = slow->questions[i];
    pthread_mutex_unlock(&slow->mutex);
    qsort(all, count, sizeof *all, by_longest);
    count = count < max ? count : max;
    memcpy(out, all, count * sizeof *all);
    return count;
}
