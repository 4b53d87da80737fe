/*
 * parts.c - a program with one busy turn that no single sample explains. parts spread: main calls 20 functions in turn.
 * parts deaf: for most of the turn the thread blocks every signal by a direct system call, so that no stack can be
 * taken. Each part takes 100 ms of processor time.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void burn(int ms);
void layout(int ms);
void hyphenate(void);

static volatile uint32_t sink;

void burn(int ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (uint32_t i = 0; i < 10000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* The write to the sink after the call prevents a tail call. */
#define PART(name)                            \
    void name(void);                          \
    __attribute__((noinline)) void name(void) \
    {                                         \
        burn(100);                            \
        sink++;                               \
    }
#define PARTS(row)                                                                                                  \
    row(part_a) row(part_b) row(part_c) row(part_d) row(part_e) row(part_f) row(part_g) row(part_h) row(part_i)     \
        row(part_j) row(part_k) row(part_l) row(part_m) row(part_n) row(part_o) row(part_p) row(part_q) row(part_r) \
            row(part_s) row(part_t)
PARTS(PART)

__attribute__((noinline)) void layout(int ms)
{
    burn(ms);
    sink++;
}

__attribute__((noinline)) void hyphenate(void)
{
    const uint64_t every = UINT64_MAX;
    uint64_t before = 0;
    layout(300);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every, &before, sizeof before);
    burn(1700);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    sink++;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++)
        poll(NULL, 0, 50);
    if (argc > 1 && !strcmp(argv[1], "deaf")) {
        hyphenate();
    } else {
#define CALL(name) name();
        PARTS(CALL)
    }
    for (int i = 0; i < 10; i++)
        poll(NULL, 0, 50);
    return 0;
}
