/*
 * sample_floor.c - measures the minimal cost of any sampler on this host: it wakes up, checks whether the thread runs,
 * interrupts it by a signal or reads it asleep, and copies the stack. No unwinding, no record, no report.
 *
 *     sample_floor busy|asleep SECONDS PERIOD_MS KIB    prints percent of one processor
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define STACK_MAX (64 * 1024)

static uint8_t copy[STACK_MAX];
static size_t wanted;
static _Atomic uint32_t answered;
static _Atomic int stop, tid;
static uint64_t handler_ns;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void copy_from(uintptr_t address)
{
    struct iovec to = {copy, wanted}, from = {(void *)address, wanted};

    if (syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0) < 0)
        copy[0] = 0;
}

static void answer(int signal, siginfo_t *info, void *context)
{
    uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);

    (void)signal;
    (void)info;
    copy_from((uintptr_t)context);
    handler_ns += now_ns(CLOCK_MONOTONIC) - begin_ns;
    atomic_store(&answered, 1);
}

static void *be_busy(void *unused)
{
    volatile uint64_t sum = 0;

    atomic_store(&tid, (int)syscall(SYS_gettid));
    while (!atomic_load(&stop))
        sum++;
    return unused;
}

static void *be_asleep(void *unused)
{
    atomic_store(&tid, (int)syscall(SYS_gettid));
    while (!atomic_load(&stop))
        usleep(100000000);
    return unused;
}

/* The stack pointer of a sleeping thread, from a line "NUMBER ARGUMENTS SP PC"; "running" for a running one. */
static uintptr_t asleep_at(void)
{
    char path[64], text[256], *at;
    int file;
    long size;

    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", atomic_load(&tid));
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    at = text[0] == 'r' ? NULL : strrchr(text, ' ');
    if (!at)
        return 0;
    *at = '\0';
    at = strrchr(text, ' ');
    return at ? strtoull(at + 1, NULL, 16) : 0;
}

static void take_sample(void)
{
    uintptr_t sp = asleep_at();

    if (sp) {
        copy_from(sp);
        return;
    }
    atomic_store(&answered, 0);
    syscall(SYS_tgkill, getpid(), atomic_load(&tid), SIGURG);
    for (int i = 0; i < 30 && !atomic_load(&answered); i++)
        usleep(1000);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct timespec due;
    pthread_t thread;
    uint64_t begin_ns, end_ns, cpu_ns, period_ns;

    if (argc < 5)
        return 2;
    wanted = (size_t)atoi(argv[4]) * 1024;
    wanted = wanted < STACK_MAX ? wanted : STACK_MAX;
    period_ns = (uint64_t)atoi(argv[3]) * 1000000u;
    sigaction(SIGURG, &action, NULL);
    pthread_create(&thread, NULL, strcmp(argv[1], "busy") ? be_asleep : be_busy, NULL);
    usleep(100000);
    begin_ns = now_ns(CLOCK_MONOTONIC);
    end_ns = begin_ns + (uint64_t)atoi(argv[2]) * 1000000000u;
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns += period_ns) {
        due = (struct timespec){(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        take_sample();
    }
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns + handler_ns;
    printf("%.5f\n", (double)cpu_ns * 100 / (double)(now_ns(CLOCK_MONOTONIC) - begin_ns));
    return 0;
}
