/*
 * host.c - runs libmire's own Mach-O code on Linux, above a fake of the few kernel calls that it makes; see
 * tests/apple/README.md.
 *
 *     apple_host LIBMIRE.dylib SUBJECT.dylib SAMPLES
 *
 * A thread runs the subject. libmire's sampler, as it was compiled for macOS, samples it: the fake kernel stops the thread
 * by a signal and tells its registers in Apple's layout. While a thread is stopped, any call of the library but those three
 * of the kernel ends the program. Prints "samples reached silent stopped_max_ns threads".
 */
#include "apple/macho.h"
#include "capture/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define KERN_SUCCESS          0
#define KERN_INVALID_ADDRESS  1
#define KERN_INVALID_ARGUMENT 4
#define THREAD_STATE64        4 /* x86_THREAD_STATE64 */
#define THREAD_STATE64_WORDS  42
#define TASK_DYLD_INFO        17
#define THREAD_BASIC_INFO     3
#define SHOWN                 5
#define RUNNING               1

static struct macho mire, subject;

/* ---- the fake kernel ---- */

static struct {
    sem_t stopped, resumed;
    ucontext_t *context; /* of the stopped thread; NULL: none is */
    uint32_t suspends, resumes;
} kernel;

/* The calls that the library may make while it has a thread stopped end here if it makes another. */
static void check_running(const char *name)
{
    if (!kernel.context)
        return;
    dprintf(STDERR_FILENO, "%s was called while a thread was suspended\n", name);
    _exit(9);
}

static void hold(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    kernel.context = context;
    sem_post(&kernel.stopped);
    while (sem_wait(&kernel.resumed) != 0) {
    }
}

static int fake_suspend(uint32_t thread)
{
    check_running("thread_suspend");
    if (syscall(SYS_tgkill, getpid(), thread, SIGURG) != 0)
        return KERN_INVALID_ARGUMENT;
    while (sem_wait(&kernel.stopped) != 0) {
    }
    kernel.suspends++;
    return KERN_SUCCESS;
}

static int fake_resume(uint32_t thread)
{
    (void)thread;
    kernel.resumes++;
    kernel.context = NULL;
    return sem_post(&kernel.resumed) == 0 ? KERN_SUCCESS : KERN_INVALID_ARGUMENT;
}

/* mach/i386/_structs.h: rax rbx rcx rdx rdi rsi rbp rsp r8 .. r15 rip rflags cs fs gs */
static int fake_state(uint32_t thread, int flavor, uint64_t *out, uint32_t *count)
{
    static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RDI, REG_RSI, REG_RBP, REG_RSP, REG_R8,
                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    (void)thread;
    if (flavor != THREAD_STATE64 || *count < THREAD_STATE64_WORDS || !kernel.context)
        return KERN_INVALID_ARGUMENT;
    memset(out, 0, THREAD_STATE64_WORDS * sizeof(uint32_t));
    for (size_t i = 0; i < MIRE_COUNT(order); i++)
        out[i] = (uint64_t)kernel.context->uc_mcontext.gregs[order[i]];
    return KERN_SUCCESS;
}

static int fake_read(uint32_t task, uint64_t from, uint64_t size, uint64_t to, uint64_t *got)
{
    struct iovec out = {(void *)(uintptr_t)to, size}, in = {(void *)(uintptr_t)from, size};

    (void)task;
    if (process_vm_readv(getpid(), &out, 1, &in, 1, 0) != (ssize_t)size)
        return KERN_INVALID_ADDRESS;
    *got = size;
    return KERN_SUCCESS;
}

static uint64_t fake_clock(uint32_t clock)
{
    struct timespec now;

    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * MIRE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* dyld's list (mach-o/dyld_images.h). */
static struct {
    uint64_t load, path, changed;
} image_list[2];
static struct {
    uint32_t version, count;
    const void *list;
    uint64_t rest[40];
} image_infos = {15, 2, image_list, {0}};

static int fake_task_info(uint32_t task, uint32_t flavor, uint64_t *out, uint32_t *count)
{
    (void)task;
    (void)count;
    check_running("task_info");
    if (flavor != TASK_DYLD_INFO)
        return KERN_INVALID_ARGUMENT;
    out[0] = (uintptr_t)&image_infos;
    return KERN_SUCCESS;
}

/* thread_basic_info: two times, cpu_usage, policy, run_state ... */
static int fake_thread_info(uint32_t thread, uint32_t flavor, int32_t *out, uint32_t *count)
{
    (void)thread;
    check_running("thread_info");
    if (flavor != THREAD_BASIC_INFO)
        return KERN_INVALID_ARGUMENT;
    memset(out, 0, *count * sizeof(*out));
    out[6] = RUNNING;
    return KERN_SUCCESS;
}

static uint32_t fake_thread_name(pthread_t thread)
{
    (void)thread;
    return (uint32_t)syscall(SYS_gettid);
}

static void *checked_malloc(size_t size)
{
    check_running("malloc");
    return malloc(size);
}

static void checked_free(void *block)
{
    check_running("free");
    free(block);
}

static int checked_lock(pthread_mutex_t *mutex)
{
    check_running("pthread_mutex_lock");
    return pthread_mutex_lock(mutex);
}

static int *errno_place(void)
{
    return &errno;
}

static void not_there(void)
{
    dprintf(STDERR_FILENO, "the library called a function that the test does not bind\n");
    _exit(9);
}

static uint64_t page_size = 4096;
static uint32_t task_self = 0x103;
static uintptr_t stack_guard = 42;

static void *resolve(void *context, const char *name)
{
    static const struct {
        const char *name;
        void *address;
    } names[] = {{"_thread_suspend", (void *)fake_suspend},
                 {"_thread_resume", (void *)fake_resume},
                 {"_thread_get_state", (void *)fake_state},
                 {"_thread_info", (void *)fake_thread_info},
                 {"_task_info", (void *)fake_task_info},
                 {"_vm_read_overwrite", (void *)fake_read},
                 {"_clock_gettime_nsec_np", (void *)fake_clock},
                 {"_pthread_mach_thread_np", (void *)fake_thread_name},
                 {"_malloc", (void *)checked_malloc},
                 {"_free", (void *)checked_free},
                 {"_pthread_mutex_lock", (void *)checked_lock},
                 {"_vm_page_size", &page_size},
                 {"_mach_task_self_", &task_self},
                 {"___stack_chk_guard", &stack_guard},
                 {"___error", (void *)errno_place},
                 {"___bzero", (void *)bzero}};
    static const char *const same[] = {"_memcpy",  "_memset",  "_memmove", "_memcmp", "_strlen",       "_strcmp",
                                       "_strncmp", "_strrchr", "_strchr",  "_strstr", "_pthread_self", "_bzero"};

    (void)context;
    for (size_t i = 0; i < MIRE_COUNT(names); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].address;
    for (size_t i = 0; i < MIRE_COUNT(same); i++)
        if (strcmp(same[i], name) == 0)
            return dlsym(RTLD_DEFAULT, name + 1);
    return (void *)not_there;
}

/* ---- the test ---- */

static _Atomic uint32_t victim, stop;

static void *run_subject(void *context)
{
    unsigned long (*run)(unsigned long) = (unsigned long (*)(unsigned long))macho_find(&subject, "_run");

    atomic_store(&victim, (uint32_t)syscall(SYS_gettid));
    while (!atomic_load(&stop))
        *(volatile unsigned long *)context = run(16);
    return NULL;
}

static bool in_subject(uint64_t pc)
{
    return pc >= subject.text.address && pc < subject.text.address + subject.text.size;
}

/* Does the walk of a thread inside the subject come out of its outermost function, `run`? */
static bool reaches_run(const struct sample *sample)
{
    uint32_t frame = 0;

    while (frame < sample->depth && in_subject(sample->pc[frame]))
        frame++;
    return frame > 0 && strcmp(macho_name(&subject, sample->pc[frame - 1]), "_run") == 0;
}

/* A stack that did not reach `run`, innermost first. */
static void complain(const struct sample *sample)
{
    static int shown;

    if (shown++ >= SHOWN)
        return;
    for (uint32_t i = 0; i < sample->depth; i++)
        fprintf(stderr, " %s+%llx", in_subject(sample->pc[i]) ? macho_name(&subject, sample->pc[i]) : "?",
                (unsigned long long)(sample->pc[i] - (uintptr_t)subject.base));
    fprintf(stderr, " (flags %x)\n", sample->flags);
}

static void list_images(const char *mire_path, const char *subject_path)
{
    const struct macho *images[] = {&mire, &subject};
    const char *paths[] = {mire_path, subject_path};

    for (size_t i = 0; i < 2; i++) {
        image_list[i].load = (uintptr_t)images[i]->base;
        image_list[i].path = (uintptr_t)paths[i];
    }
}

static void *find(const char *name)
{
    void *found = macho_find(&mire, name);

    if (!found) {
        fprintf(stderr, "libmire has no %s\n", name);
        exit(1);
    }
    return found;
}

static void sample_all(uint32_t samples)
{
    enum mire_err (*open)(struct sampler *) = (enum mire_err(*)(struct sampler *))find("_mire__sampler_open");
    void (*take)(struct sample *, struct sampler *, uint32_t, struct blackbox *) =
        (void (*)(struct sample *, struct sampler *, uint32_t, struct blackbox *))find("_mire__sampler_take");
    struct sampler *sampler = calloc(1, sizeof(*sampler));
    uint32_t inside = 0, reached = 0, silent = 0;

    if (!sampler || open(sampler) != MIRE_OK)
        exit(1);
    while (inside < samples) {
        struct sample sample;
        const struct timespec pause = {.tv_nsec = 20000};

        take(&sample, sampler, atomic_load(&victim), NULL);
        silent += (sample.flags & MIRE_SAMPLE_SILENT) != 0;
        if (sample.depth > 0 && in_subject(sample.pc[0])) {
            inside++;
            reached += reaches_run(&sample);
            if (!reaches_run(&sample))
                complain(&sample);
        }
        nanosleep(&pause, NULL);
    }
    printf("%u %u %u %llu %u\n", inside, reached, silent, (unsigned long long)sampler->cost.stopped_max_ns,
           kernel.suspends - kernel.resumes);
}

int main(int count, char **arguments)
{
    const struct sigaction action = {.sa_sigaction = hold, .sa_flags = SA_SIGINFO | SA_RESTART};
    volatile unsigned long sum = 0;
    pthread_t thread;

    if (count != 4 || !macho_read(&mire, arguments[1], 0) || !macho_read(&subject, arguments[2], 0))
        return 2;
    if (!macho_load(&mire, resolve, NULL) || !macho_load(&subject, resolve, NULL))
        return 1;
    list_images(arguments[1], arguments[2]);
    sem_init(&kernel.stopped, 0, 0);
    sem_init(&kernel.resumed, 0, 0);
    sigaction(SIGURG, &action, NULL);
    pthread_create(&thread, NULL, run_subject, (void *)(uintptr_t)&sum);
    while (!atomic_load(&victim))
        sched_yield();
    sample_all((uint32_t)strtoul(arguments[3], NULL, 10));
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}
