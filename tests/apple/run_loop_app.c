/*
 * run_loop_app.c - an app on the real CFRunLoop: hangs of known lengths in every place where a run loop calls the app.
 * Prints "kind begin_ns end_ns" for each. Run by tests/integration/apple_run_loop.py.
 *
 *     run_loop_app STORE hangs | idle SECONDS | rest SECONDS
 */
#include "gate/run_loop.h"

#include <CoreFoundation/CoreFoundation.h>
#include <mire/mire.h>

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HANG_MS  600
#define RUN_S    1.0 /* of the loop for each kind */
#define SOON_S   0.15
#define COMMIT   2000000 /* the order of Core Animation's observer */
#define POLLS    24
#define POLL_MS  40
#define NOINLINE __attribute__((noinline))

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static NOINLINE void work(const char *kind, unsigned ms)
{
    uint64_t begin_ns = now_ns();
    volatile unsigned long sum = 0;

    while (now_ns() - begin_ns < ms * 1000000ull)
        for (unsigned i = 0; i < 1000; i++)
            sum += i;
    if (kind)
        printf("%s %llu %llu\n", kind, (unsigned long long)begin_ns, (unsigned long long)now_ns());
}

/* A function for each kind, which the report must have on its stacks. */
#define HANG(kind)                         \
    static NOINLINE void hang_##kind(void) \
    {                                      \
        work(#kind, HANG_MS);              \
        __asm__ volatile("");              \
    }
HANG(timer)
HANG(source)
HANG(commit)
HANG(woken)
HANG(nested)
HANG(modal)
HANG(launch_mode)
HANG(block)
HANG(second)
HANG(first_of_two)
HANG(second_of_two)

static void run_for(CFStringRef mode, double seconds)
{
    CFRunLoopRunInMode(mode, seconds, 0);
}

static void call(CFRunLoopTimerRef timer, void *function)
{
    (void)timer;
    ((void (*)(void))function)();
}

static void call_soon(void (*function)(void), CFStringRef mode)
{
    CFRunLoopTimerContext context = {.info = (void *)function};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + SOON_S, 0, 0, 0, call, &context);

    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, mode);
    CFRelease(timer);
}

/* ---- sources ---- */

static void perform(void *function)
{
    ((void (*)(void))function)();
}

static CFRunLoopSourceRef add_source(void (*function)(void))
{
    CFRunLoopSourceContext context = {.info = (void *)function, .perform = perform};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);

    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopCommonModes);
    return source;
}

struct poke {
    CFRunLoopSourceRef source;
    CFRunLoopRef loop;
};

static void *poke(void *context)
{
    const struct poke *poke = context;
    const struct timespec soon = {.tv_nsec = (long)(SOON_S * 1e9)};

    nanosleep(&soon, NULL);
    CFRunLoopSourceSignal(poke->source);
    CFRunLoopWakeUp(poke->loop);
    return NULL;
}

static void by_source(void)
{
    struct poke by = {add_source(hang_source), CFRunLoopGetCurrent()};
    pthread_t thread;

    pthread_create(&thread, NULL, poke, &by);
    run_for(kCFRunLoopDefaultMode, RUN_S);
    pthread_join(thread, NULL);
}

/* ---- observers of the app ---- */

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *function)
{
    (void)activity;
    CFRunLoopObserverInvalidate(observer);
    ((void (*)(void))function)();
}

static void by_observer(CFRunLoopActivity when, CFIndex order, void (*function)(void))
{
    CFRunLoopObserverContext context = {.info = (void *)function};
    CFRunLoopObserverRef observer = CFRunLoopObserverCreate(NULL, when, 1, order, observe, &context);

    CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, kCFRunLoopCommonModes);
    run_for(kCFRunLoopDefaultMode, RUN_S);
    CFRelease(observer);
}

/* ---- loops in loops ---- */

static void run_nested(void)
{
    call_soon(hang_nested, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, 1.5 * RUN_S);
}

/* The inner loop waits for longer than any threshold, which is no hang; then its caller hangs. */
static void run_modal(void)
{
    run_for(kCFRunLoopDefaultMode, RUN_S);
    hang_modal();
}

/* ---- a block, as clang makes it (https://clang.llvm.org/docs/Block-ABI-Apple.html) ---- */

extern void *_NSConcreteGlobalBlock[];
extern void CFRunLoopPerformBlock(CFRunLoopRef loop, CFTypeRef mode, void *block);

static void invoke(void *block)
{
    (void)block;
    hang_block();
}

static void by_block(void)
{
    static const struct {
        unsigned long reserved, size;
    } descriptor = {0, 32};
    static struct {
        void *isa;
        int flags, reserved;
        void (*invoke)(void *block);
        const void *descriptor;
    } block = {_NSConcreteGlobalBlock, 1 << 28, 0, invoke, &descriptor};

    CFRunLoopPerformBlock(CFRunLoopGetCurrent(), kCFRunLoopDefaultMode, &block);
    run_for(kCFRunLoopDefaultMode, RUN_S);
}

/* ---- others ---- */

static void *second_thread(void *context)
{
    (void)context;
    mire_watch_thread("second");
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    mire__run_loop_observe();
    call_soon(hang_second, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, 1.5 * RUN_S);
    mire__run_loop_forget();
    mire_unwatch_thread();
    return NULL;
}

static void two_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, second_thread, NULL);
    run_for(kCFRunLoopDefaultMode, RUN_S);
    pthread_join(thread, NULL);
}

/* A loop that goes round without waiting: each time is a turn. Together they last longer than the threshold. */
static void short_work(void)
{
    work(NULL, POLL_MS);
}

static void polls(void)
{
    CFRunLoopSourceRef source = add_source(short_work);

    for (int i = 0; i < POLLS; i++) {
        CFRunLoopSourceSignal(source);
        run_for(kCFRunLoopDefaultMode, 0);
    }
}

/* Two hangs in a row, each in a turn of its own, with a wait in between. */
static void two_hangs(void)
{
    call_soon(hang_first_of_two, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, RUN_S);
    call_soon(hang_second_of_two, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, RUN_S);
}

static void by_timer(void)
{
    call_soon(hang_timer, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, RUN_S);
}

static void in_launch_mode(void)
{
    CFStringRef mode = CFStringCreateWithCString(NULL, "UIInitializationRunLoopMode", kCFStringEncodingUTF8);

    call_soon(hang_launch_mode, mode);
    run_for(mode, RUN_S);
    CFRelease(mode);
}

static void all_hangs(void)
{
    run_for(kCFRunLoopDefaultMode, SOON_S); /* ends the launch */
    by_timer();
    by_source();
    by_observer(kCFRunLoopBeforeWaiting, COMMIT, hang_commit);
    by_observer(kCFRunLoopAfterWaiting, 0, hang_woken);
    call_soon(run_nested, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, 2.5 * RUN_S);
    call_soon(run_modal, kCFRunLoopDefaultMode);
    run_for(kCFRunLoopDefaultMode, 2.5 * RUN_S);
    in_launch_mode();
    by_block();
    two_threads();
    two_hangs();
    polls();
    run_for(kCFRunLoopDefaultMode, SOON_S);
}

static void tick(void)
{
    call_soon(tick, kCFRunLoopDefaultMode);
}

static double cpu_ms(clockid_t clock)
{
    struct timespec used;

    clock_gettime(clock, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

/* Prints the CPU time of the library's threads, which are all but this one. */
static void idle(double seconds)
{
    double before_ms = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms(CLOCK_THREAD_CPUTIME_ID);

    tick();
    run_for(kCFRunLoopDefaultMode, seconds);
    printf("cpu_ms %.3f\n", cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before_ms);
}

/* How often a thread of the library's was given a processor; 0 of another one's. */
static unsigned long switches_of(const char *task)
{
    unsigned long all = 0, count;
    char path[64], line[128];
    bool own = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", task);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        own |= strncmp(line, "Name:\tmire", 10) == 0;
        if (sscanf(line, "voluntary_ctxt_switches: %lu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %lu", &count) == 1)
            all += count;
    }
    if (file)
        fclose(file);
    return own ? all : 0;
}

static unsigned long switches(void)
{
    unsigned long all = 0;
    DIR *folder = opendir("/proc/self/task");
    struct dirent *task;

    while (folder && (task = readdir(folder)))
        all += task->d_name[0] == '.' ? 0 : switches_of(task->d_name);
    if (folder)
        closedir(folder);
    return all;
}

/* Prints how often those run while the main loop waits, once the start is over: three seconds without a switch. */
static void *watch_rest(void *seconds)
{
    unsigned long before = 0, now;

    for (int still = 0; still < 3;) {
        sleep(1);
        now = switches();
        still = now > 0 && now == before ? still + 1 : 0;
        before = now;
    }
    sleep((unsigned)*(double *)seconds);
    printf("switches %lu\n", switches() - before);
    exit(0);
}

static void rest(double seconds)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, watch_rest, &seconds) == 0)
        run_for(kCFRunLoopDefaultMode, 1e6);
}

int main(int count, char **arguments)
{
    mire_options *options = mire_options_new();

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count < 3)
        return 2;
    mire_options_set_app(options, "run-loop", "1.0");
    mire_options_set_store(options, arguments[1]);
    mire_options_set_threshold_ms(options, 400);
    mire_options_set_period_ms(options, 10);
    mire_options_set_number(options, "launch_ms", 60000);
    mire_options_set_number(options, "suppress_ms", 0);
    if (mire_start(options) != MIRE_OK)
        return 1;
    mire_options_free(options);
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    if (mire__run_loop_observe() != MIRE_OK || mire__run_loop_observe() != MIRE_OK)
        return 1;
    if (strcmp(arguments[2], "hangs") == 0) {
        all_hangs();
    } else if (strcmp(arguments[2], "rest") == 0) {
        rest(atof(arguments[3]));
    } else {
        idle(atof(arguments[3]));
    }
    mire_flush(1000);
    mire__run_loop_forget_all();
    mire_stop(NULL);
    return 0;
}
