/*
 * torture.c - samples threads during calls that have deadlocked samplers: torture SAMPLES [CAUSE].
 *
 *     malloc dlopen fork vfork exit handler altstack backtrace sleep   one thread that makes this call without end
 *     all                                                              all of them at once, one sample each in turn
 *
 * Prints a line for each cause. The status is 0 if no sample was lost, nothing stopped for STUCK_S, and most stacks are
 * whole:
 *
 *     malloc 10000 samples: 9123 inside, 9876 answered, 124 asleep, 0 ended, 0 late, 0 lost, 9991 whole,
 *         0 cut, longest 210 us
 *
 *     inside    the thread was in the middle of its cause before the sample and after it
 *     answered  by the handler; asleep: read without interrupting; ended: the thread was gone
 *     late      no answer in time, from a thread that got no processor either; lost: from one that did
 *     whole     unwound to the thread's first function
 *     cut       sleeps that ended early, since the signal came just when the thread fell asleep; not judged
 *     longest   time in the handler
 */
#include "capture/sampler.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUCK_S     30
#define ALTSTACK    (64u << 10)
#define LOST_CPU_NS (20 * MIRE_NS_PER_MS) /* processor time in which it could have answered */
#if defined(__SANITIZE_THREAD__)
/* Its handlers run later, inside its runtime; their stacks cannot be judged. */
#define WHOLE_PERCENT 0u
#else
#define WHOLE_PERCENT 90u
#endif
#define STAY         __attribute__((noinline))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* prevents a tail call */

struct victim {
    const struct cause *cause;
    pthread_t thread;
    _Atomic uint32_t tid;
    _Atomic uint32_t inside;
    _Atomic uint64_t rounds;
    _Atomic uint32_t cut; /* sleeps that ended early */
    uint32_t gone;        /* last tid found to have ended; the sampler's own */
};

struct cause {
    const char *name;
    void (*go)(struct victim *victim);
};

struct tally {
    uint32_t samples, inside, answered, asleep, ended, late, lost, whole, cut;
};

static _Atomic bool ending;
static _Atomic uint64_t progress; /* of the sampler */
static struct sampler *sampler;
static _Thread_local volatile unsigned sink;

/* ---- causes ---- */

static void do_malloc(struct victim *victim)
{
    void *kept[32];

    (void)victim;
    for (unsigned i = 0; i < 32; i++)
        kept[i] = malloc(24u << (i % 14)); /* the largest ones are mapped */
    for (unsigned i = 0; i < 32; i += 2)
        kept[i] = realloc(kept[i], 100000);
    for (unsigned i = 0; i < 32; i++)
        free(kept[i]);
}

static void do_dlopen(struct victim *victim)
{
    void *module = dlopen(CORPUS_PLUGIN, RTLD_NOW | RTLD_LOCAL);

    (void)victim;
    if (module)
        dlclose(module);
}

/* Only every sixteenth round waits, so that most samples meet the fork itself. */
static void do_fork(struct victim *victim)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    for (int i = 0; i < 16 && atomic_load(&victim->rounds) % 16 == 15; i++)
        waitpid(-1, NULL, 0);
}

static void do_vfork(struct victim *victim)
{
    pid_t child = vfork();

    (void)victim;
    if (child == 0)
        _exit(0);
    if (child > 0) /* only this child: those of do_fork may run at the same time */
        waitpid(child, NULL, 0);
}

static void *live_shortly(void *argument)
{
    struct victim *victim = argument;

    atomic_store(&victim->tid, mire__tid());
    for (unsigned i = 0; i < 200000; i++)
        sink += i;
    free(malloc(100));
    return NULL;
}

/* The sampled thread is one that soon ends. */
static void do_exit(struct victim *victim)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, live_shortly, victim) == 0)
        pthread_join(thread, NULL);
}

STAY static void compute(void)
{
    for (unsigned i = 0; i < 30000; i++)
        sink += i;
    KEEP_FRAME();
}

static void on_signal(int signal)
{
    (void)signal;
    compute();
    KEEP_FRAME();
}

static void do_handler(struct victim *victim)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)victim;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void do_altstack(struct victim *victim)
{
    static char memory[ALTSTACK];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)}, none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

    (void)victim;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sigaltstack(&none, NULL);
}

static void do_backtrace(struct victim *victim)
{
    void *frames[32];

    (void)victim;
    sink += (unsigned)backtrace(frames, 32);
}

/* Computes and sleeps briefly: a signal meant for the first may end the second early. */
static void do_sleep(struct victim *victim)
{
    struct timespec span = {0, 100000};

    compute();
    if (nanosleep(&span, NULL) != 0)
        atomic_fetch_add(&victim->cut, 1);
}

static const struct cause causes[] = {{"malloc", do_malloc},     {"dlopen", do_dlopen},       {"fork", do_fork},
                                      {"vfork", do_vfork},       {"exit", do_exit},           {"handler", do_handler},
                                      {"altstack", do_altstack}, {"backtrace", do_backtrace}, {"sleep", do_sleep}};

static void *suffer(void *argument)
{
    struct victim *victim = argument;

    atomic_store(&victim->tid, mire__tid());
    while (!atomic_load(&ending)) {
        atomic_store(&victim->inside, 1);
        victim->cause->go(victim);
        atomic_store(&victim->inside, 0);
        atomic_fetch_add(&victim->rounds, 1);
    }
    return NULL;
}

/* ---- the sampler's side ---- */

static void *guard(void *victim)
{
    uint64_t before = UINT64_MAX, rounds_before = UINT64_MAX;

    for (;; sleep(STUCK_S)) {
        const struct victim *of = victim;
        uint64_t now = atomic_load(&progress), rounds = atomic_load(&of->rounds);

        if (now == before || rounds == rounds_before) {
            fprintf(stderr, "%s: %s stands still\n", of->cause->name, now == before ? "the sampler" : "the thread");
            abort();
        }
        before = now;
        rounds_before = rounds;
        pthread_testcancel();
    }
}

static void count_silent(struct tally *tally, struct victim *victim, uint32_t tid, uint64_t cpu_ns)
{
    if (!mire__thread_signal(tid, 0) || atomic_load(&victim->tid) != tid) {
        victim->gone = tid;
        tally->ended++;
    } else if (mire__thread_cpu_ns(tid) - cpu_ns < LOST_CPU_NS)
        tally->late++;
    else
        tally->lost++;
}

static void take(struct tally *tally, struct victim *victim)
{
    uint32_t tid, inside;
    uint64_t cpu_ns;
    struct sample sample;

    while ((tid = atomic_load(&victim->tid)) == victim->gone)
        sched_yield();
    inside = atomic_load(&victim->inside);
    cpu_ns = mire__thread_cpu_ns(tid);
    mire__sampler_take(&sample, sampler, tid, NULL);
    tally->samples++;
    tally->inside += inside && atomic_load(&victim->inside);
    atomic_fetch_add(&progress, 1);
    if (sample.flags & MIRE_SAMPLE_BLOCKED)
        tally->asleep++;
    else if (!(sample.flags & MIRE_SAMPLE_SILENT))
        tally->answered++;
    else
        count_silent(tally, victim, tid, cpu_ns);
    tally->whole += sample.depth > 0 && !(sample.flags & (MIRE_SAMPLE_BROKEN | MIRE_SAMPLE_CUT));
}

static bool judge(const char *name, const struct tally *tally)
{
    bool good = tally->lost == 0 && tally->answered + tally->asleep + tally->ended > 0 &&
                tally->whole * 100 >= (tally->answered + tally->asleep) * WHOLE_PERCENT;

    printf("%s %u samples: %u inside, %u answered, %u asleep, %u ended, %u late, %u lost, %u whole, %u cut, longest %u "
           "us%s\n",
           name, tally->samples, tally->inside, tally->answered, tally->asleep, tally->ended, tally->late, tally->lost,
           tally->whole, tally->cut, (unsigned)(sampler->cost.stopped_max_ns / 1000), good ? "" : "  FAILED");
    fflush(stdout);
    return good;
}

/* Sample `count` causes' threads in turn. */
static bool torture(const char *name, const struct cause *of, size_t count, uint32_t samples)
{
    static struct victim victims[MIRE_COUNT(causes)];
    struct tally tally = {0};
    pthread_t watcher;

    memset(victims, 0, sizeof(victims));
    atomic_store(&ending, false);
    sampler->cost.stopped_max_ns = 0;
    for (size_t i = 0; i < count; i++) {
        victims[i].cause = &of[i];
        if (pthread_create(&victims[i].thread, NULL, suffer, &victims[i]) != 0)
            return false;
        while (!atomic_load(&victims[i].tid))
            usleep(100);
    }
    mire__modules_read(&sampler->modules, NULL, NULL);
    pthread_create(&watcher, NULL, guard, &victims[0]);
    for (uint32_t i = 0; i < samples; i++) {
        take(&tally, &victims[i % count]);
        for (unsigned pause = (i * 2654435761u) >> 18; pause > 0; pause--) /* avoids a common rhythm */
            sink++;
    }
    atomic_store(&ending, true);
    for (size_t i = 0; i < count; i++) {
        pthread_join(victims[i].thread, NULL);
        tally.cut += atomic_load(&victims[i].cut);
    }
    pthread_cancel(watcher);
    pthread_join(watcher, NULL);
    return judge(name, &tally);
}

int main(int argc, char **argv)
{
    uint32_t samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    const char *only = argc > 2 ? argv[2] : NULL;
    bool good = true;

    sampler = mmap(NULL, sizeof(*sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sampler == MAP_FAILED || mire__sampler_open(sampler) != MIRE_OK)
        return 2;
    for (size_t i = 0; i < MIRE_COUNT(causes); i++)
        if (!only || strcmp(only, causes[i].name) == 0)
            good &= torture(causes[i].name, &causes[i], 1, samples);
    if (!only || strcmp(only, "all") == 0)
        good &= torture("all", causes, MIRE_COUNT(causes), samples);
    mire__sampler_close(sampler);
    return good ? 0 : 1;
}
