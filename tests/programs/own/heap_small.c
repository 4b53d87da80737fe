/* heap_small.c - allocates known sizes in known functions: in main, in a thread and in a handler. Then kills itself. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define STAY __attribute__((noinline))

static void *volatile keep;

STAY void inner(size_t size);
STAY void outer(size_t size);

STAY void inner(size_t size)
{
    keep = malloc(size);
}
STAY void outer(size_t size)
{
    inner(size);
    keep = keep;
}

static void *run(void *unused)
{
    void *block;

    outer(1000010);
    keep = calloc(1, 1000011);
    keep = realloc(malloc(1000012), 1000013);
    if (posix_memalign(&block, 64, 1000014) == 0)
        keep = block;
    keep = aligned_alloc(64, 1000064);
    return unused;
}

static void handle(int signal)
{
    (void)signal;
    outer(1000020);
}

int main(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        outer(1000003 + (size_t)i);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
    for (int i = 0; i < 100000; i++) {
        void *block = malloc((size_t)i % 500);

        keep = block;
        free(block);
    }
    if (fork() == 0) {
        outer(1000030); /* the child's own block */
        _exit(0);
    }
    kill(getpid(), SIGKILL);
    return 1;
}
