/*
 * loop.c - only malloc and free: the cost of a monitor that nothing else hides.
 *
 *     loop THREADS
 *
 * Each thread keeps 16,384 blocks. It replaces one drawn at random, from call paths three to ten frames deep that
 * diverge in the middle as a program's do, and writes all of it. The draws are the same in every run; threads do not
 * share blocks.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_COUNT = 16384, ROUNDS = 3000000, THREADS_MAX = 64 };

struct worker {
    pthread_t thread;
    uint64_t draw;
    void *kept[KEPT_COUNT];
};

static uint32_t next(struct worker *worker)
{
    worker->draw = worker->draw * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(worker->draw >> 33);
}

static void *left(size_t size, uint32_t path, unsigned depth);

__attribute__((noinline)) static void *right(size_t size, uint32_t path, unsigned depth)
{
    void *block = depth == 0 ? malloc(size) : left(size, path >> 1, depth - 1);

    if (block)
        *(volatile char *)block = 2;
    return block;
}

__attribute__((noinline)) static void *left(size_t size, uint32_t path, unsigned depth)
{
    void *block;

    if (depth == 0)
        block = malloc(size);
    else if (path & 1)
        block = right(size, path >> 1, depth - 1);
    else
        block = left(size, path >> 1, depth - 1);
    if (block)
        *(volatile char *)block = 1;
    return block;
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t drawn = next(worker);
        void **location = &worker->kept[drawn % KEPT_COUNT];

        size_t size = 16 + drawn % 496;

        free(*location);
        *location = left(size, drawn >> 12 & 31, 2 + (drawn >> 17) % 8);
        if (*location)
            memset(*location, (int)i, size);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 1;

    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (int i = 0; i < count; i++) {
        workers[i].draw = (uint64_t)i + 1;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}
