/*
 * memory_app.c - a program for macOS whose memory is recorded: run by machine.c. Its live blocks are in a file too.
 *
 *     kill STORE zones|logger TRUTH    8 threads allocate, move and free until the process is killed
 *     grow STORE zones|logger          grows by regions and blocks up to its limit, and waits there to be killed
 *     objects STORE zones|logger       makes objects and blocks that resemble them, and a report of the memory held
 *     next STORE SERVER KEY            the next start: sends what is there, and what MetricKit has, and ends
 *     send STORE SERVER KEY WAY        sends a report: flush: until it is sent; stop: until a line comes, and ends amid it
 *     post STORE SERVER KEY            the same, flush, without a session in the background
 *     throw STORE                      an exception that nobody catches, thrown in lay_out_cells of scroll_on of app_main
 *     scroll STORE                     the user scrolls, and every eighth frame comes late
 */
#include "apple/memory_truth.h"

#include <mire/context.h>
#include <mire/delivery.h>
#include <mire/exit.h>
#include <mire/memory.h>
#include <mire/mire.h>

#define THREADS  8
#define NOINLINE __attribute__((noinline))
#define MIB      (1ul << 20)

typedef unsigned long word;

extern void *malloc(word size), *calloc(word count, word size), *realloc(void *block, word size), free(void *block);
extern void *aligned_alloc(word alignment, word size), *malloc_type_malloc(word size, word type);
extern void *malloc_default_zone(void), *malloc_zone_malloc(void *zone, word size);
extern unsigned malloc_zone_batch_malloc(void *zone, word size, void **out, unsigned count);
extern void malloc_zone_batch_free(void *zone, void **blocks, unsigned count);
extern int pthread_create(void **thread, const void *attributes, void *(*run)(void *), void *argument);
extern int printf(const char *format, ...), fflush(void *file), strcmp(const char *a, const char *b),
    usleep(unsigned us), getchar(void);
extern char *strcpy(char *to, const char *from);
extern void *memset(void *at, int value, word size);
extern struct memory_truth *machine_truth(const char *path);
extern unsigned machine_scroll(unsigned ms, void (*draw)(unsigned frame));
extern void machine_throw(const char *name, const char *reason, const word *callers, word count);
extern void *machine_region(unsigned tag, word bytes);
extern void machine_region_end(void *region);
extern void make_objects(void), make_resembling(void); /* memory_objects.m */
extern int mprotect(void *at, word size, int protection);

static struct memory_truth *truth;

/* ---- the sites: each one's name is in the stack of its blocks ---- */

#define SITE(name, call)                                    \
    NOINLINE static void *site_##name(void *old, word size) \
    {                                                       \
        void *block = call;                                 \
                                                            \
        __asm__ volatile("" : "+r"(block));                 \
        return block;                                       \
    }
SITE(malloc, malloc(size))
SITE(calloc, calloc(3, size / 3 + 1))
SITE(realloc, realloc(old, size))
SITE(aligned, aligned_alloc(64, size))
SITE(typed, malloc_type_malloc(size, 7))
SITE(zone, malloc_zone_malloc(malloc_default_zone(), size))

NOINLINE static void *site_batch(void *old, word size)
{
    void *blocks[2] = {0, 0};

    if (malloc_zone_batch_malloc(malloc_default_zone(), size, blocks, 2) == 2)
        malloc_zone_batch_free(malloc_default_zone(), &blocks[1], 1);
    return blocks[0];
}

static const struct {
    const char *name;
    void *(*call)(void *, word);
} sites[] = {{"malloc", site_malloc}, {"calloc", site_calloc}, {"realloc", site_realloc}, {"aligned", site_aligned},
             {"typed", site_typed},   {"zone", site_zone},     {"batch", site_batch}};

#define SITES   (sizeof(sites) / sizeof(sites[0]))
#define REALLOC 2

/* ---- threads that allocate ---- */

static word roll(word *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static word size_of(word random)
{
    return random % 16 == 0 ? random / 16 % 40000 + 1 : random / 16 % 300 + 1;
}

/* A slot whose mark this thread has set. */
NOINLINE static void change(struct truth_slot *slot, word random)
{
    word size = size_of(random >> 8);
    unsigned site = (unsigned)(random >> 3) % SITES;
    void *old = (void *)slot->address;

    if (old && (random & 7) < 3) {
        free(old);
        slot->address = 0;
        return;
    }
    if (old && site != REALLOC) {
        free(old);
        old = 0;
    }
    slot->address = (word)sites[site].call(old, size);
    slot->size = sites[site].call == site_calloc ? 3 * (size / 3 + 1) : size;
    slot->site = site;
}

static void *work(void *number)
{
    word random = (word)number * 0x9e3779b97f4a7c15ul + 1;

    for (;;) {
        struct truth_slot *slot = &truth->slots[roll(&random) % TRUTH_SLOTS];

        if (__atomic_exchange_n((unsigned *)&slot->changing, 1, __ATOMIC_ACQ_REL))
            continue;
        change(slot, roll(&random));
        __atomic_store_n((unsigned *)&slot->changing, 0, __ATOMIC_RELEASE);
        __atomic_fetch_add((word *)&truth->calls, 1, __ATOMIC_RELAXED);
    }
    return 0;
}

/* Another tool that replaces a function of the zones, as this library does, and calls the former one. */
static void *(*former_malloc)(void *zone, word size);

NOINLINE static void *other_malloc(void *zone, word size)
{
    void *block = former_malloc(zone, size);

    __asm__ volatile("" : "+r"(block));
    return block;
}

static void come_between(void)
{
    void **functions = malloc_default_zone(); /* reserved, reserved, size, malloc: malloc/malloc.h */

    mprotect(functions, 4096, 3);
    former_malloc = (void *(*)(void *, word))functions[3];
    functions[3] = (void *)other_malloc;
    mprotect(functions, 4096, 1);
}

static void be_killed(const char *path)
{
    void *thread;

    come_between();
    truth = machine_truth(path);
    for (unsigned i = 0; i < SITES; i++)
        strcpy(truth->sites[i], sites[i].name);
    for (word i = 0; i < THREADS; i++)
        pthread_create(&thread, 0, work, (void *)(i + 1));
    for (;;)
        usleep(10000);
}

/* ---- an app that grows ---- */

NOINLINE static void load_images(void)
{
    for (int i = 0; i < 4; i++)
        machine_region(70, 12 * MIB);                 /* VM_MEMORY_IMAGEIO */
    machine_region(51, 20 * MIB);                     /* VM_MEMORY_LAYERKIT */
    machine_region_end(machine_region(62, 10 * MIB)); /* VM_MEMORY_SQLITE */
}

NOINLINE static void load_cells(void)
{
    for (int i = 0; i < 600; i++)
        memset(malloc(100000), 1, 100000);
}

/* A loop that marks its turns. */
static void wait_for(unsigned ms)
{
    for (unsigned i = 0; i < ms; i += 10) {
        usleep(10000);
        mire_loop_enter();
        mire_loop_leave();
    }
}

NOINLINE static void grow(void)
{
    mire_set_app_state(MIRE_APP_FOREGROUND);
    wait_for(2500);
    load_images();
    make_objects();
    wait_for(2500);
    load_cells();
    mire_set_number("footprint_kib", 124u << 10); /* only now: a look amid the growth would report a part of it */
    printf("full\n");
    fflush(0);
    for (;;)
        wait_for(1000);
}

/* ---- an app with objects ---- */

static void hold_objects(void)
{
    make_objects();
    make_resembling();
    mire_memory_report("objects");
    for (int i = 0; i < 100; i++)
        wait_for(10);
    mire_flush(5000);
    printf("flushed\n");
    fflush(0);
    mire_stop(0);
}

/* ---- an app that scrolls ---- */

NOINLINE static void lay_out_cells(unsigned ms)
{
    for (unsigned i = 0; i < ms; i++)
        usleep(1000);
}

static void draw(unsigned frame)
{
    wait_for(10);
    if (frame % 8 == 0)
        lay_out_cells(120);
}

int app_main(int count, char **arguments);

static void scroll(void)
{
    wait_for(100);
    printf("woken %u\n", machine_scroll(11500, draw));
    mire_flush(5000);
    printf("flushed\n");
    fflush(0);
    mire_stop(0);
}

/* The stack is that of the throw. Its end has been left when the handler is called. */
static void throw(void)
{
    const word callers[] = {(word)lay_out_cells + 8, (word)scroll + 8, (word)app_main + 8};

    wait_for(100);
    machine_throw("NSRangeException", "index 5 beyond bounds [0 .. 2]", callers, 3);
}

/* ---- the start ---- */

static int start(const char *store, const char *source, const char *server, const char *key)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, "mac", "1.0");
    if (store[0])
        mire_options_set_store(options, store);
    if (server)
        mire_options_set_server(options, server, key);
    if (server)
        mire_options_set_metrickit(options, 1);
    if (source && strcmp(source, "background") == 0) {
        mire_options_set_background(options, 1);
    } else if (source && strcmp(source, "display") == 0) {
        mire_options_set_display(options, 1);
    } else if (source) {
        mire_options_set_memory(options, MIRE_MEMORY_EXACT, 0);
        mire_options_set_memory_source(options, strcmp(source, "logger") == 0 ? MIRE_MEMORY_LOGGER : MIRE_MEMORY_ZONES);
        mire_options_set_threshold_ms(options, 60000); /* a busy machine makes no hang of a start or of a growth */
    }
    err = mire_start(options);
    mire_options_free(options);
    if (err != MIRE_OK)
        printf("mire_start: %d\n", (int)err);
    return err;
}

static void send_one(const char *way)
{
    mire_test();
    if (strcmp(way, "stop") == 0)
        getchar();
    else
        printf("flushed %d\n", (int)mire_flush(300000));
    mire_stop(0);
    printf("stopped\n");
    fflush(0);
}

int app_main(int count, char **arguments)
{
    const char *what = arguments[0];

    (void)count;
    if (strcmp(what, "kill") == 0 && start(arguments[1], arguments[2], 0, 0) == MIRE_OK)
        be_killed(arguments[3]);
    if (strcmp(what, "grow") == 0 && start(arguments[1], arguments[2], 0, 0) == MIRE_OK)
        grow();
    if (strcmp(what, "objects") == 0 && start(arguments[1], arguments[2], 0, 0) == MIRE_OK) {
        hold_objects();
        return 0;
    }
    if (strcmp(what, "throw") == 0 && start(arguments[1], 0, 0, 0) == MIRE_OK)
        throw();
    if (strcmp(what, "scroll") == 0 && start(arguments[1], "display", 0, 0) == MIRE_OK) {
        scroll();
        return 0;
    }
    if (strcmp(what, "send") == 0 && start(arguments[1], "background", arguments[2], arguments[3]) == MIRE_OK) {
        send_one(arguments[4]);
        return 0;
    }
    if (strcmp(what, "post") == 0 && start(arguments[1], 0, arguments[2], arguments[3]) == MIRE_OK) {
        send_one("flush");
        return 0;
    }
    if (strcmp(what, "next") == 0 && start(arguments[1], 0, arguments[2], arguments[3]) == MIRE_OK) {
        enum mire_err err = mire_flush(300000);

        printf("flushed %d\n", (int)err);
        fflush(0);
        mire_stop(0);
        return 0;
    }
    return 1;
}
