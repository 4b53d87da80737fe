/*
 * memory_app.c - an app that uses libmire and holds memory: memory_app STORE WHAT, where WHAT is
 *
 *     demand     reports itself twice; between the two it lets go of half, and takes more
 *     footprint  grows beyond the footprint that MIRE_SETTINGS' kind of number says
 *     baseline   lives on and is well
 *     churn      four threads allocate and free all the time, while it is reported five times
 *     grow       grows until somebody kills it
 *     start      only starts, so that earlier runs are reported, and waits until they are
 *
 * Its functions are named after what they hold, for reports to be recognised by.
 */
#include <mire/memory.h>
#include <mire/mire.h>

#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIB 1024u
#define MIB (1024u * KIB)

void *load_map(size_t size);
void *draw_panel(size_t size);
void hold_tiles(void);

static void *held[100000];
static size_t held_count;
static char sealed[4096]; /* pattern of reports in the store */

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

/* Work that uses the processor, so that the process is looked at, and waits as a loop does. */
static void turn(int ms)
{
    volatile double work = 0;
    clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        work = work * 0.5 + 1;
    poll(NULL, 0, 10);
}

/* Until so many reports lie in the store; they are not sent. */
static void wait_for(size_t count)
{
    size_t found = 0;

    while (found < count) {
        glob_t paths = {.gl_pathc = 0};

        turn(5);
        glob(sealed, 0, NULL, &paths);
        found = paths.gl_pathc;
        globfree(&paths);
    }
}

/* Ask for a report; the last one may be sealed and not quite done with. */
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
    } jobs[] = {{"demand", demand}, {"churn", churn}, {"footprint", footprint}, {"baseline", baseline}, {"grow", grow}};
    mire_options *options = mire_options_new();

    if (argc != 3)
        return 2;
    snprintf(sealed, sizeof(sealed), "%s/out/*.report", argv[1]);
    mire_options_set_app(options, "memory_app", "1.0");
    mire_options_set_store(options, argv[1]);
    mire_options_set_memory(options, MIRE_MEMORY_EXACT, 0);
    mire_options_set_number(options, "footprint_kib", 20 * KIB);
    mire_options_set_number(options, "baseline_ms", strcmp(argv[2], "baseline") ? 0 : 500);
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
