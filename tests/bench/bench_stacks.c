/*
 * bench_stacks.c - measures the cost of a sample: how long the thread is stopped, and how long the unwinding takes.
 *
 * A thread spins 64 frames deep and reads its CPU clock all the time. The longest gap that it sees while a sample is
 * taken is the time it was stopped: signal, copy, wake-up and return. CPU time excludes other programs on a busy
 * machine, but includes the kernel's own work. Windows of the same length without a sample come in between and show
 * that work.
 *
 * The same is measured for a script, if libpython3.11 is installed: 100 nested functions, whose names, files and lines
 * are in each sample.
 */
#include "capture/sampler.h"
#include "support/tower.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEIGHT  64
#define SAMPLES 2001

static struct {
    long (*tower)(int, long (*)(long));
    _Atomic uint32_t tid, stop;
    _Atomic uint64_t gap_ns;
} victim;

static struct sampler *sampler;

static long spin(long number)
{
    uint64_t last_ns = mire__thread_cpu_ns(0);

    atomic_store(&victim.tid, mire__tid());
    while (!atomic_load_explicit(&victim.stop, memory_order_relaxed)) {
        uint64_t now_ns = mire__thread_cpu_ns(0);

        if (now_ns - last_ns > atomic_load_explicit(&victim.gap_ns, memory_order_relaxed))
            atomic_store_explicit(&victim.gap_ns, now_ns - last_ns, memory_order_relaxed);
        last_ns = now_ns;
    }
    return number;
}

/* As much stack below the tower's foot as a sample can copy. */
static void *be_victim(void *unused)
{
    volatile char room[2 * MIRE_STACK_COPY_BYTES];

    memset((void *)(uintptr_t)room, 1, sizeof(room));
    victim.tower(HEIGHT, spin);
    return room[0] ? unused : NULL;
}

/* ---- a script ---- */

#define LIBPYTHON "libpython3.11.so.1.0"
#define DEEP      100

/* Seven functions in turn, so that their frames are not folded. */
static const char script_form[] = "import ctypes\n"
                                  "spin = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(%zu)\n"
                                  "for i in range(7):\n"
                                  "  exec(compile(f'def f{i}(n): return f{(i + 1) %% 7}(n - 1) if n else spin(1)\\n',"
                                  " f'file{i}.py', 'exec'))\n"
                                  "f0(%d)\n";

static long run_script(int height, long (*inner)(long))
{
    void *library = dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
    void (*begin)(int) = (void (*)(int))(uintptr_t)dlsym(library, "Py_InitializeEx");
    int (*run)(const char *) = (int (*)(const char *))(uintptr_t)dlsym(library, "PyRun_SimpleString");
    char text[1024];

    (void)height;
    snprintf(text, sizeof(text), script_form, (size_t)(uintptr_t)inner, DEEP - 2);
    begin(0);
    return run(text);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int say(const char *name, const char *what, uint64_t *ns, size_t part, double goal_us)
{
    const size_t at = SAMPLES * part / 1000;
    double us;

    qsort(ns, SAMPLES, sizeof(*ns), compare);
    us = (double)ns[at] / 1000;
    printf("stacks-%s-%s %.1f us | ", name, what, us);
    if (goal_us == 0) {
        printf("no goal | ok\n");
        return 0;
    }
    printf("goal <= %.1f | %s\n", goal_us, us <= goal_us ? "ok" : "short");
    return us > goal_us;
}

static uint64_t stopped_ns[SAMPLES], quiet_ns[SAMPLES], handler_ns[SAMPLES], unwind_ns[SAMPLES], frames[SAMPLES];

/* The longest gap from now on. Only a running thread sees gaps. */
static uint64_t gap_after(void (*act)(void))
{
    atomic_store(&victim.gap_ns, 0);
    act();
    usleep(300);
    return atomic_load(&victim.gap_ns);
}

static struct sample sample;
static struct blackbox *box; /* for scripts */

static void take(void)
{
    mire__sampler_take(&sample, sampler, atomic_load(&victim.tid), box);
}

static void take_nothing(void)
{
    uint64_t begin_ns = mire__now_ns();

    while (mire__now_ns() - begin_ns < 50000)
        ;
}

/* One sample, and an equal window without one. */
static void measure(size_t i)
{
    uint64_t unwound_ns = sampler->cost.unwind_sum_ns;

    stopped_ns[i] = gap_after(take);
    handler_ns[i] = sampler->stopped_ns;
    unwind_ns[i] = sampler->cost.unwind_sum_ns - unwound_ns;
    frames[i] = sample.depth + sample.folded;
    quiet_ns[i] = gap_after(take_nothing);
}

static int measure_tower(const char *name, long (*tower)(int, long (*)(long)))
{
    pthread_t thread;
    int failed = 0;

    memset(&victim, 0, sizeof(victim));
    victim.tower = tower;
    pthread_create(&thread, NULL, be_victim, NULL);
    while (!atomic_load(&victim.tid))
        usleep(100);
    for (size_t i = 0; i < SAMPLES; i++)
        measure(i);
    atomic_store(&victim.stop, 1);
    pthread_join(thread, NULL);
    qsort(frames, SAMPLES, sizeof(frames[0]), compare);
    if (frames[SAMPLES / 2] < (box ? DEEP : HEIGHT)) {
        printf("stacks-%s: %u of %d frames found\n", name, (unsigned)frames[SAMPLES / 2], box ? DEEP : HEIGHT);
        return 1;
    }
    failed += say(name, "stopped-median", stopped_ns, 500, box ? 50 : 20);
    failed += say(name, "stopped-p99", stopped_ns, 990, box ? 200 : 100);
    say(name, "nothing-median", quiet_ns, 500, 0);
    say(name, "nothing-p99", quiet_ns, 990, 0);
    say(name, "handler-median", handler_ns, 500, 0);
    say(name, "handler-p99", handler_ns, 990, 0);
    failed += say(name, "unwind-median", unwind_ns, 500, 100);
    say(name, "unwind-p99", unwind_ns, 990, 0);
    return failed;
}

int main(void)
{
    int failed;

    sampler = mmap(NULL, sizeof(*sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sampler == MAP_FAILED || mire__sampler_open(sampler) != MIRE_OK)
        return 1;
    mire__modules_read(&sampler->modules, NULL, NULL);
    failed = measure_tower("fp", tower_fp);
    failed += measure_tower("cfi", tower_cfi);
    if (dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL)) {
        box = calloc(1, sizeof(*box));
        sampler->modules.read_ns = 0;
        failed += measure_tower("python", run_script);
    }
    return failed > 0;
}
