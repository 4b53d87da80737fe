/*
 * heap_app.c - a program that holds a known number of blocks, under hard conditions, and then kills itself.
 *
 *     heap_app threads N     N threads live at once, each holding blocks
 *     heap_app storm N       N forked children and grandchildren, while other threads allocate
 *     heap_app handlers MS   signal handlers allocate and map at arbitrary points
 *     heap_app steady N      N million operations of ordinary use: blocks, mappings, threads, modules
 *     heap_app many N        N blocks from some hundred stacks
 *     heap_app modules N     N times $MIRE_TEST_MODULE is loaded, allocates, and is unloaded
 *     heap_app mixed SEED    blocks of all sizes, half of them freed, from stacks with many blocks and stacks with
 *                            few; the same for one SEED
 *     heap_app plain N       as `many`, but ends normally, and prints a line
 *
 * Prints "held COUNT BYTES" for all blocks that hold() allocated, then dies of SIGKILL.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic uint64_t held_count, held_bytes;
static _Atomic int stop;

void *hold(size_t size);

/* Allocates every block that must be found. */
__attribute__((noinline)) void *hold(size_t size)
{
    void *volatile block = malloc(size);

    if (!block)
        abort();
    atomic_fetch_add(&held_count, 1);
    atomic_fetch_add(&held_bytes, size);
    return block;
}

__attribute__((noinline)) static void let_go(void *block, size_t size)
{
    free(block);
    atomic_fetch_sub(&held_count, 1);
    atomic_fetch_sub(&held_bytes, size);
}

static uint32_t below(uint64_t *state, uint32_t bound)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % bound;
}

static _Noreturn void die(void)
{
    printf("held %llu %llu\n", (unsigned long long)held_count, (unsigned long long)held_bytes);
    fflush(stdout);
    raise(SIGKILL);
    abort();
}

static void start(pthread_t *thread, void *(*function)(void *), void *argument)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    if (pthread_create(thread, &attributes, function, argument) != 0)
        abort();
    pthread_attr_destroy(&attributes);
}

/* ---- threads ---- */

static pthread_barrier_t all;

static void *hold_some(void *argument)
{
    uint64_t state = (uintptr_t)argument;
    void *blocks[100];

    for (int i = 0; i < 100; i++)
        blocks[i] = hold(1 + (size_t)i * 7);
    for (int i = 0; i < 50; i++)
        let_go(blocks[i], 1 + (size_t)i * 7);
    for (int i = 0; i < 50; i++)
        hold(1 + below(&state, 3000));
    pthread_barrier_wait(&all);
    pause();
    return NULL;
}

static void threads(uint32_t count)
{
    pthread_barrier_init(&all, NULL, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        pthread_t thread;
        start(&thread, hold_some, (void *)(uintptr_t)(i + 1));
    }
    pthread_barrier_wait(&all);
}

/* ---- forks ---- */

static void *churn(void *argument)
{
    uint64_t state = (uintptr_t)argument;
    struct {
        void *block;
        size_t size;
    } kept[200] = {{NULL, 0}};

    while (!atomic_load(&stop)) {
        uint32_t i = below(&state, 200);
        if (kept[i].block)
            let_go(kept[i].block, kept[i].size);
        kept[i].size = 1 + below(&state, 2000);
        kept[i].block = hold(kept[i].size);
    }
    return NULL;
}

static void have_child(int depth)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        void *blocks[200];
        for (int i = 0; i < 200; i++)
            blocks[i] = hold(100);
        if (depth > 0)
            have_child(depth - 1);
        for (int i = 0; i < 200; i++)
            let_go(blocks[i], 100);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(9);
}

static void storm(uint32_t count)
{
    pthread_t churners[3];

    for (uintptr_t i = 0; i < 3; i++)
        start(&churners[i], churn, (void *)(i + 1));
    for (uint32_t i = 0; i < count; i++)
        have_child(i % 10 == 0 ? 2 : 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(churners[i], NULL);
}

/* ---- handlers ---- */

static _Atomic int safe; /* true: the allocator was not interrupted */

static void handle(int number)
{
    void *mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)number;
    if (atomic_load(&safe)) {
        void *block = hold(50);
        let_go(block, 50);
    }
    if (mapped != MAP_FAILED)
        munmap(mapped, 8192);
}

static void handlers(uint32_t ms)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}};
    uint64_t state = 1;
    struct timespec begin, now;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        size_t size = 1 + below(&state, 500), span = (size_t)4096 << below(&state, 5);
        void *mapped = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void *block = hold(size);

        let_go(block, size);
        munmap(mapped, span);
        atomic_store(&safe, 1);
        for (int volatile i = 0; i < 200; i++)
            continue;
        mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(mapped, 4096);
        atomic_store(&safe, 0);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
    memset(&every, 0, sizeof(every));
    setitimer(ITIMER_REAL, &every, NULL);
}

/* ---- many, steady ---- */

static void *deep(size_t size, uint32_t path);

__attribute__((noinline)) static void *deeper(size_t size, uint32_t path)
{
    void *volatile block = deep(size, path);

    return block;
}

/* One stack for each path. */
__attribute__((noinline)) static void *deep(size_t size, uint32_t path)
{
    void *volatile block;

    if (path < 2)
        block = hold(size);
    else if (path & 1)
        block = deeper(size, path >> 1);
    else
        block = deep(size, path >> 1);
    return block;
}

static void many(uint32_t count)
{
    uint64_t state = 7;

    for (uint32_t i = 0; i < count; i++)
        deep(1 + below(&state, 120), below(&state, 512));
}

static void mixed(uint32_t seed)
{
    uint64_t state = seed;

    for (uint32_t i = 0; i < 60000; i++) {
        size_t size = 1 + below(&state, 16u << below(&state, 10));
        void *block = deep(size, 1 + below(&state, 1u << below(&state, 8)));

        if (below(&state, 2))
            let_go(block, size);
    }
}

static void *short_life(void *argument)
{
    void *blocks[20];

    for (size_t i = 0; i < 20; i++)
        blocks[i] = deep(i * 30 + 1, (uint32_t)(uintptr_t)argument % 64);
    for (size_t i = 0; i < 20; i++)
        let_go(blocks[i], i * 30 + 1);
    return NULL;
}

/* Ordinary use: most blocks are short-lived, some live long, and some are large. */
static void steady(uint32_t millions)
{
    static struct {
        void *block;
        size_t size;
    } kept[20000];
    uint64_t state = 3;

    for (uint64_t i = 0; i < millions * 1000000ull; i++) {
        uint32_t at = below(&state, 20000), size = 1 + below(&state, below(&state, 50) ? 400 : 6000);

        if (kept[at].block)
            let_go(kept[at].block, kept[at].size);
        kept[at].size = size;
        kept[at].block = deep(size, below(&state, 1024));
        if (i % 1000 == 0) {
            void *mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            munmap((char *)mapped + 8192, 4096);
            munmap(mapped, 1 << 16);
        }
        if (i % 2000 == 0) {
            pthread_t thread;
            start(&thread, short_life, (void *)(uintptr_t)i);
            pthread_join(thread, NULL);
        }
        if (i % 5000 == 0) {
            void *module = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
            if (module)
                dlclose(module);
        }
    }
}

/* ---- modules ---- */

static void modules(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        void *module = dlopen(getenv("MIRE_TEST_MODULE"), RTLD_NOW | RTLD_LOCAL);
        void *(*allocate)(size_t) = module ? (void *(*)(size_t))dlsym(module, "oracle_plugin_alloc") : NULL;

        if (!allocate || !allocate(48))
            abort();
        held_count++;
        held_bytes += 48;
        dlclose(module);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(uint32_t number);
    } modes[] = {{"threads", threads}, {"storm", storm}, {"handlers", handlers}, {"steady", steady},
                 {"many", many},       {"mixed", mixed}, {"modules", modules},   {"plain", many}};
    uint32_t number = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;

    if (number == 0)
        return 2;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].run(number);
    if (strcmp(argv[1], "plain") == 0)
        return puts("well") < 0;
    die();
}
