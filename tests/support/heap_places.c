/*
 * heap_places.c - allocates one block in each kind of call, so that the recorded stacks can be compared with a
 * debugger's. Sizes FIRST, FIRST + 1, ... identify the blocks. Prints "there" at the end, and waits to be killed.
 */
#include "tower.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#define FIRST  1000003
#define HEIGHT 20

static size_t next_size = FIRST;
static void *volatile keep;

static long allocate(long number)
{
    keep = malloc(next_size++);
    return number;
}

static long allocate_otherwise(long number)
{
    keep = calloc(1, next_size++);
    keep = realloc(malloc(next_size++), next_size);
    next_size++;
    keep = aligned_alloc(64, next_size++);
    return number;
}

/* malloc is called by a tail call, and so is this function. */
void *__attribute__((noinline)) jump_to_malloc(size_t size)
{
    return malloc(size + 0);
}
static long __attribute__((noinline)) jump(long number)
{
    keep = jump_to_malloc(next_size++);
    return number + 1;
}
static long __attribute__((noinline)) jump_twice(long number)
{
    return jump(number + 2);
}

static long mixed(long number)
{
    return tower_fp(5, allocate) + number;
}

static int compare(const void *a, const void *b)
{
    if (next_size % 2)
        keep = malloc(next_size++);
    return *(const int *)a - *(const int *)b;
}

static long sort(long number)
{
    int numbers[] = {2, 1};

    next_size |= 1;
    qsort(numbers, 2, sizeof(int), compare);
    return number;
}

static void handle(int signal)
{
    (void)signal;
    tower_cfi(6, allocate);
}

static long raise_here(long number)
{
    raise(SIGUSR2);
    return number;
}

static void take_signal(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

    sigaction(SIGUSR2, &action, NULL);
    tower_cfi(HEIGHT, raise_here);
}

static void on_other_stack(void)
{
    tower_cfi(9, allocate);
    tower_cfi(9, allocate);
}

static void run_on_other_stack(void)
{
    ucontext_t there, back;

    getcontext(&there);
    there.uc_stack.ss_sp = malloc(1 << 17);
    there.uc_stack.ss_size = 1 << 17;
    there.uc_link = &back;
    makecontext(&there, on_other_stack, 0);
    swapcontext(&back, &there);
}

int main(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    alarm(120);
    for (int round = 0; round < 3; round++) { /* walked, cached, cached */
        tower_fp(HEIGHT, allocate);
        tower_cfi(HEIGHT, allocate);
        tower_cfi(HEIGHT, mixed);
        tower_cfi(HEIGHT, allocate_otherwise);
        tower_cfi(HEIGHT, jump_twice);
        tower_cfi(HEIGHT, sort);
    }
    sigaltstack(&stack, NULL);
    take_signal(0);
    take_signal(SA_ONSTACK);
    run_on_other_stack();
    puts("there");
    fflush(stdout);
    for (;;)
        pause();
}
