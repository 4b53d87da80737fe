/*
 * thread.c - see hooks.h: the stacks of threads, recorded as mappings with the stack that made the thread.
 *
 * The C library maps a thread's stack by itself, and keeps it for the next thread. So the thread records it as its
 * first act, and the record ends with the thread's state (thread_state.c). The thread's first function is jumped to:
 * no frame of the SDK lies below it.
 */
#include "allochook/hooks.h"

#include "allochook/allochook.h"
#include "allochook/thread_state.h"

#include <errno.h>

#define PAGE_BYTES 4096ull

/* Threads that are being made at a time; the stacks of more are not recorded. */
#define STARTS 64

static struct start {
    _Atomic uint32_t taken;
    uint32_t node;
    void *(*run)(void *);
    void *argument;
} starts[STARTS];

static struct start *take_start(void)
{
    for (size_t i = 0; i < STARTS; i++) {
        uint32_t nobody = 0;

        if (atomic_load_explicit(&starts[i].taken, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&starts[i].taken, &nobody, 1))
            return &starts[i];
    }
    return NULL;
}

/* The C library answers faster than the kernel. Its allocations for the answer are not the program's. */
MIRE_SLOW static bool find_own_stack(struct span *out)
{
    struct collect_thread *before = mire__collect_own_begin();
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &start, &size);
        pthread_attr_destroy(&attributes);
    }
    mire__collect_own_end(before);
    /* musl keeps the thread's own data above its stack, in the same mapping. */
    *out = (struct span){(uintptr_t)start, ((uintptr_t)start + size + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1)};
    return size > 0;
}

MIRE_SLOW static void note_stack(uint32_t node)
{
    struct span stack;
    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    struct collect_thread *self = NULL;

    if (heap && find_own_stack(&stack))
        self = mire__threads_as_begin(heap, (uintptr_t)__builtin_dwarf_cfa(), &stack);
    if (self)
        mire__threads_as_note_stack(self, node);
}

MIRE_SLOW static void *begin(void *context)
{
    struct start *start = context;
    void *(*run)(void *) = start->run;
    void *argument = start->argument;
    uint32_t node = start->node;

    atomic_store_explicit(&start->taken, 0, memory_order_release);
    note_stack(node);
    return run(argument);
}

MIRE_SLOW static int create_slow(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                 void *argument)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    struct start *start = self ? take_start() : NULL;
    struct heap *heap;
    int err;

    if (self)
        mire__collect_as_return(self);
    if (!start)
        return MIRE_REAL(pthread_create)(thread, attributes, run, argument);
    start->run = run;
    start->argument = argument;
    start->node = 0;
    heap = mire__collect_as_open(self);
    if (heap) {
        start->node = mire__collect_as_node(self, heap, &site);
        mire__collect_as_close(self);
    }
    err = MIRE_REAL(pthread_create)(thread, attributes, begin, start);
    if (err)
        atomic_store_explicit(&start->taken, 0, memory_order_release);
    return err;
}

MIRE_HIDDEN int mire__heap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                          void *argument)
{
    __typeof__(&mire__heap_pthread_create) real = MIRE_REAL(pthread_create);

    if (__builtin_expect(!real, 0))
        return EAGAIN;
    return mire__collect_as_on() ? create_slow(thread, attributes, run, argument)
                                 : real(thread, attributes, run, argument);
}
