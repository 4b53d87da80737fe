/*
 * locker.c - a program whose main thread waits for a mutex that the thread "journal" holds for a while. The threads
 * "encoder-1" and "encoder-2" compute meanwhile: locker HOLD_MS COMPUTE_MS
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

void flush_journal(int hold_ms);
void save_document(void);
uint32_t encode_block(uint32_t seed);

static pthread_mutex_t document = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, over;

__attribute__((noinline)) void flush_journal(int hold_ms)
{
    struct timespec time = {.tv_sec = hold_ms / 1000, .tv_nsec = hold_ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
    atomic_store(&held, 0);
}

static void *journal(void *hold_ms)
{
    pthread_mutex_lock(&document);
    atomic_store(&held, 1);
    flush_journal((int)(intptr_t)hold_ms);
    pthread_mutex_unlock(&document);
    return NULL;
}

__attribute__((noinline)) void save_document(void)
{
    pthread_mutex_lock(&document);
    pthread_mutex_unlock(&document);
    atomic_store(&held, 0); /* prevents a tail call */
}

__attribute__((noinline)) uint32_t encode_block(uint32_t seed)
{
    for (int i = 0; i < 100000; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

static void *encode(void *seed)
{
    uint32_t value = (uint32_t)(uintptr_t)seed;

    while (!atomic_load(&over))
        value = encode_block(value);
    return (void *)(uintptr_t)value;
}

static void start(pthread_t *thread, const char *name, void *(*run)(void *), intptr_t what)
{
    if (pthread_create(thread, NULL, run, (void *)what) != 0)
        exit(1);
    pthread_setname_np(*thread, name);
}

int main(int argc, char **argv)
{
    pthread_t writer, encoders[2];

    if (argc != 3)
        return 2;
    poll(NULL, 0, 50);
    start(&writer, "journal", journal, atoi(argv[1]));
    while (!atomic_load(&held))
        poll(NULL, 0, 1);
    save_document();
    poll(NULL, 0, 50);
    start(&encoders[0], "encoder-1", encode, 1);
    start(&encoders[1], "encoder-2", encode, 2);
    for (int left_ms = atoi(argv[2]); left_ms > 0; left_ms -= 50)
        poll(NULL, 0, 50);
    atomic_store(&over, 1);
    poll(NULL, 0, 50);
    pthread_join(writer, NULL);
    pthread_join(encoders[0], NULL);
    pthread_join(encoders[1], NULL);
    return 0;
}
