/* loop_marked.c - a queue on a condition variable: nothing that the gate could see, so the turns are marked. */
#include "planted.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queued;

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

static void take(int count)
{
    mire_loop_leave();
    pthread_mutex_lock(&lock);
    while (queued < count)
        pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    mire_loop_enter();
}

int main(int argc, char **argv)
{
    pthread_t producer;

    (void)argc;
    planted_start(argv);
    pthread_create(&producer, NULL, produce, NULL);
    take(1);
    planted_hang();
    take(2);
    pthread_join(producer, NULL);
    return 0;
}
