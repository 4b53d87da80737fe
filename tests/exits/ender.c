/*
 * ender.c - a program that ends in a chosen way, after it has idled for a while.
 *
 *     ender STORE VERSION GROUND HOW      GROUND: fore, just, back, none
 *     ender STORE VERSION none next       the app's next start: stays until all runs before are judged
 *     ender_bare HOW                      without libmire, for mire-run
 *
 * Prints a line when it is ready to end. Ends caused from outside ("wait", "hang", ...) follow that line.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef BARE
#include <dirent.h>
#include <mire/exit.h>
#include <mire/mire.h>
#endif

#define SETTLE_MS 1300 /* the foreground counts after one second */

static volatile int *volatile nowhere = (volatile int *)8;
static volatile int zero;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* An idle main loop. */
static void idle_ms(int ms)
{
    double end_s = now_s() + ms / 1000.0;

    while (now_s() < end_s)
        poll(NULL, 0, 20);
}

static void compute(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

/* Writes the pages, so that they count. `pause_us` after each megabyte. */
static void fill_memory(int pause_us)
{
    const size_t size = 1 << 20;

    for (;;) {
        char *block = malloc(size);

        if (!block)
            continue;
        for (size_t i = 0; i < size; i += 4096)
            block[i] = 1;
        if (pause_us > 0)
            usleep((useconds_t)pause_us);
    }
}

static int overflow(int depth)
{
    volatile char frame[4096];

    frame[depth % 4096] = 1;
    return overflow(depth + 1) + frame[depth % 4096];
}

static void fault_beyond_file(void)
{
    FILE *file = tmpfile();
    char *memory;

    if (!file || fputc('x', file) < 0 || fflush(file) != 0)
        exit(9);
    memory = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
    zero = (unsigned char)memory[4096];
}

static void *crash_elsewhere(void *context)
{
    *nowhere = 1;
    return context;
}

static void crash_on_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, crash_elsewhere, NULL);
    pthread_join(thread, NULL);
}

/* ---- handlers that an app may have ---- */

static void crash_again(int signal)
{
    (void)signal;
    abort();
}

static void say_and_exit(int signal)
{
    (void)signal;
    if (write(2, "", 0) == 0)
        _exit(1);
}

static void put_default_back(int number)
{
    signal(number, SIG_DFL);
}

static void *guarded; /* a read-only page that the handler makes writable */

static void repair(int signal)
{
    (void)signal;
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void survive_fault(void)
{
    *(volatile char *)guarded = 1;
    idle_ms(100);
    exit(0);
}

static void set_handler(const char *how)
{
    static const struct {
        const char *how;
        void (*handler)(int);
    } handlers[] = {
        {"segv-in-handler", crash_again},
        {"segv-handler-exits", say_and_exit},
        {"segv-handler-returns", put_default_back},
        {"repaired", repair},
    };

    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
        if (strcmp(how, handlers[i].how) == 0)
            signal(SIGSEGV, handlers[i].handler);
    if (strcmp(how, "repaired") == 0)
        guarded = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* ---- the ways ---- */

static void segv(void)
{
    *nowhere = 1;
}

static void divide(void)
{
    zero = 7 / zero;
}

static void exit_plainly(void)
{
    exit(3);
}

static void exit_at_once(void)
{
    _exit(3);
}

static void exit_quickly(void)
{
    quick_exit(3);
}

static void exit_in_handler(void)
{
    at_quick_exit(compute);
    quick_exit(3);
}

static void segv_in_exit(void)
{
    at_quick_exit(segv);
    quick_exit(3);
}

static void exit_raw(void)
{
    syscall(SYS_exit_group, 3);
}

static void execute(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void fill_slowly(void)
{
    fill_memory(20000);
}

static void fill_fast(void)
{
    fill_memory(0);
}

static void wait_to_be_ended(void)
{
    for (;;)
        idle_ms(1000);
}

static void trap(void)
{
    __builtin_trap();
}

static const struct {
    const char *how;
    void (*end)(void);
} ways[] = {
    {"exit", exit_plainly},
    {"_exit", exit_at_once},
    {"quick_exit", exit_quickly},
    {"quick_exit-hang", exit_in_handler},
    {"quick_exit-segv", segv_in_exit},
    {"raw-exit", exit_raw},
    {"exec", execute},
    {"abort", abort},
    {"segv", segv},
    {"segv-in-handler", segv},
    {"segv-handler-exits", segv},
    {"segv-handler-returns", segv},
    {"repaired", survive_fault},
    {"bus", fault_beyond_file},
    {"fpe", divide},
    {"ill", trap},
    {"overflow", NULL},
    {"thread-segv", crash_on_thread},
    {"wait", wait_to_be_ended},
    {"hang", compute},
    {"told", wait_to_be_ended},
    {"oom", fill_slowly},
    {"oom-fast", fill_fast},
};

static int end(const char *how)
{
    puts("ready");
    fflush(stdout);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(how, ways[i].how) == 0 && ways[i].end)
            ways[i].end();
    if (strcmp(how, "overflow") == 0)
        return overflow(0);
    return strcmp(how, "return") == 0 ? 0 : 9;
}

#ifdef BARE
int main(int argc, char **argv)
{
    set_handler(argv[argc - 1]);
    idle_ms(SETTLE_MS);
    return end(argv[argc - 1]);
}
#else
static void start(const char *store, const char *version)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, "ender", version);
    mire_options_set_store(options, store);
    mire_options_set_threshold_ms(options, 300);
    err = mire_start(options);
    mire_options_free(options);
    if (err == MIRE_OK)
        return;
    puts(mire_err_name(err));
    exit(8);
}

static int evidence_left(const char *store)
{
    char path[4096];
    int count = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/box", store);
    dir = opendir(path);
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strstr(entry->d_name, ".exit") != NULL;
    closedir(dir);
    return count;
}

/* Its own evidence stays. */
static int judge(const char *store)
{
    for (int i = 0; i < 1000 && evidence_left(store) > 1; i++)
        idle_ms(10);
    return 0;
}

int main(int argc, char **argv)
{
    const char *ground, *how;

    if (argc != 5)
        return 7;
    ground = argv[3];
    how = argv[4];
    set_handler(how);
    if (strcmp(ground, "fore") == 0)
        mire_set_foreground(1);
    if (strcmp(ground, "back") == 0)
        mire_set_foreground(0);
    start(argv[1], argv[2]);
    if (strcmp(how, "next") == 0)
        return judge(argv[1]);
    idle_ms(SETTLE_MS);
    if (strcmp(how, "told") == 0)
        mire_set_quit(MIRE_QUIT_USER);
    if (strcmp(ground, "just") == 0)
        mire_set_foreground(1);
    return end(how);
}
#endif
