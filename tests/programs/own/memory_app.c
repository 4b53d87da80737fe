/*
 * memory_app.c - an app that uses libmire and holds memory: memory_app STORE WHAT [URL KEY], where WHAT is
 *
 *     demand     makes two reports of itself; in between it frees half, and allocates more
 *     footprint  grows beyond the footprint in MIRE_SETTINGS
 *     baseline   goes on, healthy
 *     churn      four threads allocate and free all the time, during five reports
 *     modes      changes the mode while two threads allocate and free; makes two reports of itself
 *     pool       hands out blocks of its own, and makes blocks in scopes; makes a report of itself
 *     well       holds 40 MiB that it needs, a little of all kinds, and is healthy; sends the reports
 *     leak       as well, and 34 MiB that it does not need; makes and sends a report
 *     reserve    maps 512 MiB and uses 32 of them; then grows a little until it is killed
 *     grow       grows until it is killed
 *     start      only starts, so that earlier runs are reported, and waits for their reports
 *
 * The names of its functions say what they hold, so that reports can be checked.
 */
#define _GNU_SOURCE /* dirent64 */
#include <mire/memory.h>
#include <mire/mire.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024u
#define MIB (1024u * KIB)

void *load_map(size_t size);
void *draw_panel(size_t size);
void hold_tiles(void);

static void *held[100000];
static size_t held_count;
static char sealed[4096]; /* folder of the reports in the store */

static void *hold(void *block, size_t size)
{
    if (block)
        memset(block, 'x', size);
    held[held_count++] = block;
    return block;
}

__attribute__((noinline)) void *load_map(size_t size)
{
    return hold(malloc(size), size);
}

__attribute__((noinline)) void *draw_panel(size_t size)
{
    return hold(calloc(1, size), size);
}

__attribute__((noinline)) void hold_tiles(void)
{
    for (int i = 0; i < 64; i++)
        mire_memory_tag(load_map(640), "MapTile");
}

/* Compute, so that the process is examined, and wait as a loop does. */
static void turn(int ms)
{
    volatile double work = 0;
    clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        work = work * 0.5 + 1;
    poll(NULL, 0, 10);
}

/* The number of reports in the store. The C library's opendir would allocate, and the reports would count that. */
static size_t count_sealed(void)
{
    static _Alignas(uint64_t) char entries[32 * KIB];
    int folder = open(sealed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t found = 0;
    long size;

    if (folder < 0)
        return 0;
    while ((size = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
        for (long at = 0; at < size; at += ((struct dirent64 *)(entries + at))->d_reclen) {
            const char *name = ((struct dirent64 *)(entries + at))->d_name;

            found += name[0] != '.' && strlen(name) > 7 && strcmp(name + strlen(name) - 7, ".report") == 0;
        }
    close(folder);
    return found;
}

/* Wait for so many reports in the store; they are not sent. */
static void wait_for(size_t count)
{
    do
        turn(5);
    while (count_sealed() < count);
}

/* Ask for a report. The last one may be sealed and not finished. */
static int ask(const char *name)
{
    enum mire_err err;

    while ((err = mire_memory_report(name)) == MIRE_E_TIMEOUT)
        turn(1);
    return err == MIRE_OK;
}

static int demand(void)
{
    for (int i = 0; i < 100; i++)
        load_map(48 * KIB);
    hold_tiles();
    if (mire_memory_report("first") != MIRE_OK || mire_memory_report("busy") != MIRE_E_TIMEOUT)
        return 1;
    wait_for(1);
    if (!ask(NULL))
        return 1;
    wait_for(2);
    for (int i = 0; i < 50; i++)
        free(held[i]);
    for (int i = 0; i < 30; i++)
        draw_panel(48 * KIB);
    if (!ask("second"))
        return 1;
    wait_for(3);
    return 0;
}

static int footprint(void)
{
    for (int i = 0; i < 40; i++) {
        load_map(MIB);
        turn(30);
    }
    return 0;
}

static int baseline(void)
{
    time_t end = time(NULL) + 3;

    load_map(MIB);
    while (time(NULL) < end)
        turn(100);
    return 0;
}

static _Atomic int churning = 1;

static void *churn_blocks(void *seed)
{
    unsigned random = (unsigned)(uintptr_t)seed;
    void *blocks[512] = {NULL};

    while (churning) {
        random = random * 1103515245 + 12345;
        free(blocks[random >> 16 & 511]);
        blocks[random >> 16 & 511] = malloc(random >> 8 & 4095);
    }
    for (size_t i = 0; i < 512; i++)
        free(blocks[i]);
    return NULL;
}

static int churn(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 100; i++)
        load_map(48 * KIB);
    hold_tiles();
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn_blocks, (void *)(uintptr_t)(i + 1));
    for (size_t i = 1; i <= 5; i++) {
        if (!ask("churn"))
            return 1;
        wait_for(i);
    }
    churning = 0;
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Some blocks in sampled mode, far from the next sample, then some in exact mode. */
static pthread_barrier_t turns;

static void *draw_in_turns(void *none)
{
    static void *volatile drawn[90]; /* kept to the end */
    size_t count = 0;

    for (int i = 0; i < 10; i++)
        drawn[count++] = malloc(KIB);
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    for (int i = 0; i < 40; i++)
        drawn[count++] = malloc(12 * KIB);
    for (int i = 0; i < 40; i++)
        drawn[count++] = realloc(NULL, 200 * KIB);
    return none;
}

static int modes(void)
{
    pthread_t thread;
    int outer;

    load_map(KIB);
    if (mire_memory_set(MIRE_MEMORY_EXACT, 0) != MIRE_OK)
        return 1;
    held_count = 0;
    outer = mire_memory_scope_begin("Crumb");
    for (int i = 0; i < 400; i++)
        load_map(300);
    mire_memory_scope_end(outer);
    for (int i = 0; i < 100; i++)
        load_map(48 * KIB);
    pthread_barrier_init(&turns, NULL, 2);
    if (mire_memory_set(MIRE_MEMORY_SAMPLED, 64 * MIB) != MIRE_OK ||
        pthread_create(&thread, NULL, draw_in_turns, NULL) != 0)
        return 1;
    load_map(KIB);
    for (int i = 0; i < 450; i++) {
        if (i < 150)
            free(held[i]);
        else if (i < 200 || i >= 400)
            held[i] = realloc(held[i], 100);
    }
    pthread_barrier_wait(&turns);
    if (mire_memory_set(MIRE_MEMORY_OFF, 0) != MIRE_OK)
        return 1;
    for (int i = 0; i < 60; i++)
        load_map(24 * KIB);
    for (int i = 450; i < 460; i++)
        free(held[i]);
    if (mire_memory_set(MIRE_MEMORY_SAMPLED, 64 * MIB) != MIRE_OK || mire_memory_set(MIRE_MEMORY_EXACT, 0) != MIRE_OK)
        return 1;
    pthread_barrier_wait(&turns);
    for (int i = 0; i < 30; i++)
        draw_panel(96 * KIB);
    pthread_join(thread, NULL);
    if (!ask("modes"))
        return 1;
    wait_for(1);
    if (mire_memory_set(MIRE_MEMORY_SAMPLED, 4 * KIB) != MIRE_OK)
        return 1;
    for (int i = 0; i < 20000; i++)
        held[i] = realloc(i % 2 ? NULL : malloc(10), 1000);
    if (!ask("sampled"))
        return 1;
    wait_for(2);
    return 0;
}

/* An allocator of the app: the stack of its blocks ends here. */
__attribute__((noinline)) static void *hand_out(char *at, size_t size)
{
    mire_alloc_hook(at, size);
    return at;
}

enum { PIECE = 1000, PIECES = 200, TAKEN_BACK = 80 };

static int pool(void)
{
    char *memory = load_map(PIECES * KIB);
    int outer, inner;

    mire_alloc_pool(memory);
    mire_alloc_hook(NULL, PIECE);
    for (size_t i = 0; i < PIECES; i++)
        memset(hand_out(memory + i * KIB, PIECE), 'x', PIECE);
    for (size_t i = 0; i < TAKEN_BACK; i++)
        mire_free_hook(memory + i * KIB);
    mire_free_hook(NULL);
    outer = mire_memory_scope_begin("Sprite");
    for (int i = 0; i < 30; i++)
        load_map(300);
    inner = mire_memory_scope_begin("Shadow");
    for (int i = 0; i < 10; i++)
        draw_panel(300);
    mire_memory_scope_end(inner);
    for (int i = 0; i < 5; i++)
        load_map(300);
    mire_memory_scope_end(outer);
    load_map(300);
    if (!ask("pool"))
        return 1;
    wait_for(1);
    return 0;
}

/* Most of its memory, legitimately. */
static void draw(void)
{
    for (int i = 0; i < 1000; i++)
        draw_panel(41 * KIB);
    for (int i = 0; i < 20; i++)
        load_map(100 * KIB);
}

static int well(void)
{
    time_t end = time(NULL) + 2;

    draw();
    while (time(NULL) < end)
        turn(100);
    return mire_flush(20000) != MIRE_OK;
}

static int leak(void)
{
    draw();
    for (int i = 0; i < 350; i++)
        load_map(100 * KIB);
    return !ask("leak") || mire_flush(20000) != MIRE_OK;
}

static int reserve(void)
{
    char *memory = mmap(NULL, 512 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 'x', 32 * MIB);
    puts("growing");
    fflush(stdout);
    for (;;) {
        load_map(KIB);
        turn(100);
    }
}

static int grow(void)
{
    puts("growing");
    fflush(stdout);
    for (int i = 0; i < 100000; i++) {
        load_map(128 * KIB);
        if (i % 8 == 0)
            draw_panel(4 * KIB);
        poll(NULL, 0, 6);
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } jobs[] = {{"demand", demand}, {"churn", churn}, {"footprint", footprint}, {"baseline", baseline},
                {"pool", pool},     {"well", well},   {"leak", leak},           {"reserve", reserve},
                {"grow", grow},     {"modes", modes}};
    mire_options *options = mire_options_new();
    const bool is_measured = argc > 2 && (strcmp(argv[2], "baseline") == 0 || strcmp(argv[2], "well") == 0);

    if (argc != 3 && argc != 5)
        return 2;
    snprintf(sealed, sizeof(sealed), "%s/out", argv[1]);
    mire_options_set_app(options, "memory_app", "1.0");
    mire_options_set_store(options, argv[1]);
    mire_options_set_memory(options, strcmp(argv[2], "modes") == 0 ? MIRE_MEMORY_SAMPLED : MIRE_MEMORY_EXACT, 0);
    mire_options_set_number(options, "footprint_kib", strcmp(argv[2], "footprint") ? 0 : 20 * KIB);
    mire_options_set_number(options, "baseline_ms", is_measured ? 500 : 0);
    if (argc == 5) {
        mire_options_set_server(options, argv[3], argv[4]);
        mire_options_set_channel(options, "internal"); /* the rollout lets all of it send */
    }
    mire_set_foreground(1);
    if (mire_start(options) != MIRE_OK)
        return 3;
    mire_options_free(options);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if (strcmp(argv[2], jobs[i].name) == 0)
            return jobs[i].run();
    for (int i = 0; i < 20; i++)
        turn(20);
    return 0;
}
