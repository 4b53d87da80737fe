/*
 * crowd.c - crowd THREADS: each thread allocates and frees at some twenty call sites, then waits. Prints the resident
 * memory of the process in KiB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 4000, BLOCKS = 64, ROUNDS = 20, STACK_BYTES = 128 * 1024 };

static pthread_barrier_t all_ready, all_told;

__attribute__((noinline)) static void *from_depth(int depth, size_t size)
{
    void *block = depth ? from_depth(depth - 1, size) : malloc(size);

    if (block)
        *(volatile char *)block = 1;
    return block;
}

static void *work(void *argument)
{
    void *blocks[BLOCKS];

    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < BLOCKS; i++)
            blocks[i] = i % 3 == 0 ? malloc(50 + i) : i % 3 == 1 ? calloc(1, 60 + i) : from_depth((int)i % 7, i);
        for (size_t i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    }
    pthread_barrier_wait(&all_ready);
    pthread_barrier_wait(&all_told);
    return argument;
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;

    while (file && kib < 0 && fgets(line, sizeof(line), file))
        if (sscanf(line, "Rss: %ld", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib;
}

int main(int argc, char **argv)
{
    static pthread_t threads[THREADS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 0;
    pthread_attr_t attributes;

    if (count < 1 || count > THREADS_MAX)
        return 2;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_barrier_init(&all_ready, NULL, (unsigned)count + 1);
    pthread_barrier_init(&all_told, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attributes, work, NULL) != 0)
            return 3;
    pthread_barrier_wait(&all_ready);
    printf("%ld\n", resident_kib());
    pthread_barrier_wait(&all_told);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
