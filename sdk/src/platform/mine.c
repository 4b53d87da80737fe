/* mine.c - see mine.h. Signal-safe. An entry is taken by its start, and counts once it has an end. */
#include "platform/mine.h"

#include "platform/locals.h"
#include "platform/platform.h"

#define PAGE_BYTES 4096ull
#define SETTLE_NS  (100 * MIRE_NS_PER_MS)
#define NAP_NS     100000ull

static struct {
    struct {
        _Atomic uint64_t start;       /* 0: free */
        _Atomic uint64_t end;         /* 0: not yet */
        _Atomic uint64_t stack_bytes; /* of a thread: `start` is an address on its stack; 0: a mapping */
    } spans[MIRE_MINE_MAX];
    _Atomic uint32_t used;   /* entries that were ever taken */
    _Atomic uint32_t coming; /* threads before their begin */
    _Atomic bool future_locked;
} mine;

static void add(uint64_t start, uint64_t end, uint64_t stack_bytes)
{
    for (uint32_t i = 0; i < MIRE_MINE_MAX; i++) {
        uint64_t nobody = 0;
        uint32_t used = atomic_load(&mine.used);

        if (!atomic_compare_exchange_strong(&mine.spans[i].start, &nobody, start))
            continue;
        atomic_store(&mine.spans[i].stack_bytes, stack_bytes);
        atomic_store(&mine.spans[i].end, end);
        while (used <= i && !atomic_compare_exchange_weak(&mine.used, &used, i + 1)) {
        }
        return;
    }
}

static void take(uint32_t i)
{
    atomic_store(&mine.spans[i].end, 0);
    atomic_store(&mine.spans[i].start, 0);
}

void mire__mine_add(const void *at, size_t bytes)
{
    uint64_t start = (uintptr_t)at & ~(PAGE_BYTES - 1);

    add(start, ((uintptr_t)at + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), 0);
}

void mire__mine_remove(const void *at, size_t bytes)
{
    uint64_t start = (uintptr_t)at & ~(PAGE_BYTES - 1), end = (uintptr_t)at + bytes;

    for (uint32_t i = 0; i < atomic_load(&mine.used); i++)
        if (atomic_load(&mine.spans[i].stack_bytes) == 0 && atomic_load(&mine.spans[i].start) >= start &&
            atomic_load(&mine.spans[i].start) < end)
            take(i);
}

void mire__mine_thread_comes(void)
{
    atomic_fetch_add(&mine.coming, 1);
}

void mire__mine_thread_fails(void)
{
    atomic_fetch_sub(&mine.coming, 1);
}

void mire__mine_settle(void)
{
    const uint64_t until_ns = mire__now_ns() + SETTLE_NS;
    _Atomic uint32_t never = 0;

    while (atomic_load(&mine.coming) > 0 && mire__now_ns() < until_ns)
        mire__futex_wait(&never, 0, mire__now_ns() + NAP_NS);
}

void mire__mine_thread_begin(size_t stack_bytes)
{
    uint64_t own_stack = (uintptr_t)__builtin_frame_address(0);

    mire__locals_as_own()->own_stack = own_stack;
    add(own_stack, own_stack + 1, stack_bytes);
    atomic_fetch_sub(&mine.coming, 1);
}

void mire__mine_thread_end(void)
{
    uint64_t own_stack = mire__locals_as_own()->own_stack;

    for (uint32_t i = 0; i < atomic_load(&mine.used); i++)
        if (own_stack && atomic_load(&mine.spans[i].start) == own_stack)
            take(i);
}

/* The entry's span within a mapping. The C library maps a stack from its lower end, with a guard there. */
static struct mine_span span_of(uint32_t i, uint64_t start, uint64_t end)
{
    const uint64_t stack_bytes = atomic_load(&mine.spans[i].stack_bytes);
    struct mine_span span = {atomic_load(&mine.spans[i].start), atomic_load(&mine.spans[i].end)};

    if (span.start == 0 || span.end <= start || span.start >= end)
        return (struct mine_span){0, 0};
    if (stack_bytes)
        span = (struct mine_span){start, start + stack_bytes};
    return (struct mine_span){span.start > start ? span.start : start, span.end < end ? span.end : end};
}

size_t mire__mine_within(struct mine_span out[MIRE_MINE_MAX], uint64_t start, uint64_t end)
{
    size_t count = 0;

    for (uint32_t i = 0; i < atomic_load(&mine.used) && i < MIRE_MINE_MAX; i++) {
        struct mine_span span = span_of(i, start, end);
        size_t at = count;

        if (span.end <= span.start)
            continue;
        for (; at > 0 && out[at - 1].start > span.start; at--)
            out[at] = out[at - 1];
        out[at] = span;
        count++;
    }
    for (size_t i = 1; i < count; i++)
        if (out[i].start < out[i - 1].end)
            out[i].start = out[i - 1].end < out[i].end ? out[i - 1].end : out[i].end;
    return count;
}

void mire__mine_future_locked(bool locked)
{
    atomic_store(&mine.future_locked, locked);
}

bool mire__mine_is_future_locked(void)
{
    return atomic_load_explicit(&mine.future_locked, memory_order_relaxed);
}
