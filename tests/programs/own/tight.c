/*
 * tight.c - allocates, maps and waits on stacks with hardly any room left: of threads with the smallest possible stack,
 * and of coroutines with stacks of their own.
 *
 *     tight t|c WHAT LEAVE    t threads, c coroutines; WHAT: m malloc, b a large block, a realloc, p mmap, d poll, n a
 *                             call from new code, on a stack of which LEAVE bytes are left
 *
 * Ends with 0. An overflow is SIGSEGV: an inaccessible page lies below each stack.
 */
#include <poll.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE            4096
#define COROUTINE_BYTES (8 * 1024)

static size_t leave;
static char what;
static volatile char sink;

static void touch(void *block)
{
    if (!block)
        abort();
    *(volatile char *)block = 1;
}

__attribute__((noinline)) static void work(void)
{
    void *block;

    switch (what) {
    case 'm':
        touch(block = malloc(3000));
        free(block);
        break;
    case 'b':
        touch(block = malloc(200000));
        free(block);
        break;
    case 'a':
        touch(block = calloc(1, 100));
        touch(block = realloc(block, 5000));
        free(block);
        break;
    case 'p':
        touch(block = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        munmap(block, 16 * PAGE);
        break;
    case 'd':
        poll(NULL, 0, 0);
        break;
    }
}

/* New code at an unknown address, which calls its argument. */
static void (*make_code(void))(void (*)(void))
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#else
    static const unsigned int code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
    char *pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    union {
        char *bytes;
        void (*function)(void (*)(void));
    } made = {.bytes = pages};

    if (pages == MAP_FAILED)
        abort();
    memcpy(pages, code, sizeof(code));
    __builtin___clear_cache(pages, pages + sizeof(code));
    return made.function;
}

static void (*new_code)(void (*)(void));

static void allocate(void)
{
    void *block = malloc(3000);

    touch(block);
    free(block);
}

/* Many call sites, so that each stack is another one. */
#define CALL(n)                                               \
    __attribute__((noinline)) static void call_##n(int depth) \
    {                                                         \
        work();                                               \
        sink = (char)depth;                                   \
    }
CALL(0)
CALL(1)
CALL(2)
CALL(3)
CALL(4)
CALL(5)
CALL(6)
CALL(7)

__attribute__((noinline)) static void calls(void)
{
    static void (*const all[])(int) = {call_0, call_1, call_2, call_3, call_4, call_5, call_6, call_7};

    for (int i = 0; i < 400; i++) {
        if (new_code)
            new_code(allocate);
        else
            all[i % 8](i);
    }
}

/* Call with `leave` bytes left on the stack that begins at `low`. */
__attribute__((noinline)) static void squeeze(const char *low)
{
    size_t left = (size_t)((const char *)__builtin_frame_address(0) - low);
    char *eaten = left > leave ? __builtin_alloca(left - leave) : NULL;

    if (eaten)
        *(volatile char *)eaten = 1;
    calls();
    if (eaten)
        sink = *(volatile char *)eaten;
}

static void *run(void *argument)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        abort();
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    squeeze(low);
    return argument;
}

static void threads(void)
{
    pthread_attr_t attributes;
    pthread_t made[4];

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&made[i], &attributes, run, NULL) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(made[i], NULL);
}

static ucontext_t home, coroutine;
static char *coroutine_low;

static void in_coroutine(void)
{
    squeeze(coroutine_low);
}

static void coroutines(void)
{
    char *pages = mmap(NULL, PAGE + COROUTINE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + PAGE, COROUTINE_BYTES, PROT_READ | PROT_WRITE) != 0)
        abort();
    coroutine_low = pages + PAGE;
    if (getcontext(&coroutine) != 0)
        abort();
    coroutine.uc_stack.ss_sp = coroutine_low;
    coroutine.uc_stack.ss_size = COROUTINE_BYTES;
    coroutine.uc_link = &home;
    makecontext(&coroutine, in_coroutine, 0);
    swapcontext(&home, &coroutine);
    munmap(pages, PAGE + COROUTINE_BYTES);
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    what = arguments[2][0];
    leave = (size_t)atol(arguments[3]);
    poll(NULL, 0, 20); /* the watch begins here */
    for (int i = 0; i < 3; i++) {
        if (what == 'n')
            new_code = make_code(); /* earlier pages stay mapped: new addresses each time */
        *arguments[1] == 't' ? threads() : coroutines();
    }
    poll(NULL, 0, 20);
    return 0;
}
