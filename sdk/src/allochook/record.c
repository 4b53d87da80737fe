/* record.c - writes a call of the program to the tables: the slow path (fast.h). Signal-safe. */
#include "allochook/record.h"

#include "allochook/fast.h"
#include "allochook/thread_state.h"
#include "heap/heap.h"

#include <errno.h>

struct collect_thread *mire__collect_as_enter_slow(uint64_t sp)
{
    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_acquire);
    struct collect_thread *self = heap ? mire__threads_as_begin(heap, sp, NULL) : NULL;

    if (self)
        atomic_store_explicit(&self->calling_sp, sp, memory_order_relaxed);
    return self;
}

void mire__collect_as_wake(struct heap *heap)
{
    struct collect_gate *gate = mire__collect_gate;

    if (mire__heap_flags_change(heap, MIRE_FLAG_RESTS, 0))
        gate->wake(gate->context);
}

/* Natural logarithm of a number in (0, 1]; exact to 1e-10. */
static double logarithm(double x)
{
    union {
        double number;
        uint64_t bits;
    } u = {.number = x};
    int exponent = (int)(u.bits >> 52 & 0x7ff) - 1022;
    double s, square, sum = 0;

    u.bits = (u.bits & 0xfffffffffffffull) | 0x3fe0000000000000ull; /* 0.5..1 */
    if (u.number < 0.7071067811865476) {
        u.number *= 2;
        exponent--;
    }
    s = (u.number - 1) / (u.number + 1);
    square = s * s;
    for (int i = 13; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return 2 * s * sum + exponent * 0.6931471805599453;
}

/* Bytes until the next sample: exponential. */
static int64_t draw(struct collect_thread *self, uint64_t mean)
{
    uint64_t x = self->random;
    double uniform;

    x ^= x >> 12; /* xorshift64* */
    x ^= x << 25;
    x ^= x >> 27;
    self->random = x ? x : 1;
    uniform = (double)((x * 0x2545f4914f6cdd1dull >> 11) + 1) * 0x1p-53;
    return (int64_t)(-logarithm(uniform) * (double)mean) + 1;
}

/* A part of the budget, at most `cap`: so a block of that size always exceeds it, and is kept for certain. */
static int64_t refill(struct collect_thread *self, int64_t cap)
{
    int64_t part = self->more < cap ? self->more : cap;

    self->more -= part;
    return part;
}

/*
 * Is a block of `size` bytes a sample? The bytes are spent.
 *   interval  the index of the interval that drew it; 0: it is kept for certain
 */
static bool is_drawn(uint32_t *interval, struct collect_thread *self, const struct heap *heap, size_t size)
{
    uint32_t now = mire__heap_as_interval(heap);
    uint64_t mean = mire__heap_as_interval_bytes(heap, now);
    int64_t cap = (int64_t)mire__heap_as_certain_bytes(heap, now), left;
    struct locals *own = mire__locals_as_own();

    if (size >= (uint64_t)cap) {
        *interval = 0;
        return true;
    }
    if (self->drawn == MIRE_HEAP_INTERVALS_MAX) { /* the thread's first */
        self->drawn = now;
        self->more = draw(self, mean);
    }
    left = own->collect_left - (int64_t)size;
    while (left < 0 && self->more > 0)
        left += refill(self, cap);
    if (left < 0) {
        *interval = self->drawn;
        self->drawn = now;
        self->more = draw(self, mean);
        own->collect_left = refill(self, cap);
        return true;
    }
    own->collect_left = left;
    return false;
}

/* The thread may take the fast path while the tables' flags are these, it has no scope and its stacks are valid. */
static void set_fast_path_flags(struct collect_thread *self, const struct heap *heap)
{
    uint64_t flags = atomic_load_explicit(&heap->flags, memory_order_acquire);
    bool fast = ((uint32_t)flags & ~(MIRE_FLAG_SHADOW | MIRE_FLAG_ONE_PHASE)) == (MIRE_HEAP_EXACT | MIRE_FLAG_OPEN) &&
                self->scope == 0 &&
                self->stack.walk.version == atomic_load_explicit(&mire__collect_steps->version, memory_order_acquire);

    self->fast_path_flags = fast ? flags : 0;
}

static void record(struct collect_thread *self, struct heap *heap, const struct self_frame *site, const void *block,
                   size_t size, uint32_t scope)
{
    uint64_t address = (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK;
    uint32_t interval;
    bool recorded = false;

    if (mire__heap_as_mode(heap) != MIRE_HEAP_SAMPLED)
        mire__collect_as_undraw(self);
    if (mire__heap_as_mode(heap) == MIRE_HEAP_EXACT)
        recorded = mire__block_as_set(heap, self->slot, address, size, mire__collect_as_node(self, heap, site));
    else if (mire__heap_as_mode(heap) == MIRE_HEAP_SAMPLED && is_drawn(&interval, self, heap, size))
        recorded =
            mire__block_as_sample(heap, self->slot, address, size, mire__collect_as_node(self, heap, site), interval);
    if (__builtin_expect(scope != 0, 0) && recorded)
        mire__block_as_tag(heap, self->slot, address, scope);
    set_fast_path_flags(self, heap);
}

void mire__collect_as_alloc(struct collect_thread *self, const struct self_frame *site, const void *block, size_t size)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    record(self, heap, site, block, size, self->scope);
    mire__collect_as_close(self);
}

void mire__collect_as_app_alloc(struct collect_thread *self, const struct self_frame *site, const void *block,
                                size_t size)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    if (mire__heap_flags(heap, MIRE_FLAG_ONE_PHASE))
        mire__heap_flags_change(heap, MIRE_FLAG_ONE_PHASE, 0);
    record(self, heap, site, block, size, self->scope);
    mire__collect_as_close(self);
}

void *mire__fast_as_slow(MIRE_FAST_CALL)
{
    const struct self_frame site = {.pc = pc, .sp = sp, .fp = fp};

    if (block)
        mire__collect_as_alloc(self, &site, block, size);
    return block;
}

void *mire__fast_as_set_slow(struct collect_thread *self, void *block, size_t size, uint32_t node)
{
    mire__block_as_set(self->heap, self->slot, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK, size, node);
    mire__collect_as_close(self);
    return block;
}

/* Record the block: in its shadow entry if that is free, otherwise by the slow path. */
static inline void *set(struct collect_thread *self, void *block, size_t size, uint32_t node)
{
    const uint32_t phase = mire__shadow_phase((uintptr_t)block, mire__fast_is_one_phase(self));
    _Atomic uint32_t *shadow;

    return mire__shadow_entry(&shadow, self->heap, (uintptr_t)block, phase)
               ? mire__fast_set(self, shadow, block, size, node, false)
               : mire__fast_as_set_slow(self, block, size, node);
}

void *mire__fast_as_any_phase(struct collect_thread *self, void *block, size_t size, uint32_t node)
{
    return set(self, block, size, node);
}

/* The stack is not in the cache. */
static void *walk(struct collect_thread *self, void *block, size_t size, const struct self_frame *site)
{
    const bool one_phase = mire__fast_is_one_phase(self);
    _Atomic uint32_t *shadow;
    bool plain =
        mire__shadow_entry(&shadow, self->heap, (uintptr_t)block, mire__shadow_phase((uintptr_t)block, one_phase));
    uint32_t node;

    if (plain)
        __builtin_prefetch(shadow, 1); /* comes to the cache while the stack is walked */
    node = mire__call_stack_as_walk(&self->stack, self->heap, mire__collect_steps, site);
    return plain ? mire__fast_set(self, shadow, block, size, node, false)
                 : mire__fast_as_set_slow(self, block, size, node);
}

void *mire__fast_as_other_stack(MIRE_FAST_CALL)
{
    const struct self_frame site = {.pc = pc, .sp = sp, .fp = fp};
    struct stack_entry *entry = mire__stack_cache_as_find(&self->stack.cache, pc, sp, fp);
    uint32_t node = entry ? mire__stack_cache_as_node(entry, &self->stack.walk) : 0;

    if (__builtin_expect(node == 0, 0))
        return walk(self, block, size, &site);
    mire__stack_cache_learn(&self->stack.cache, entry);
    return set(self, block, size, node);
}

void *mire__fast_publish(struct heap_count *counts, void *block)
{
    struct collect_thread *self = mire__locals_as_own()->collect;
    struct heap *heap = self && mire__collect_has_slot(self) ? mire__collect_as_open(self) : NULL;
    struct heap_count *own = heap ? self->slot->counts : NULL;

    if (!heap)
        return block;
    if (counts >= own && counts < own + MIRE_HEAP_SIZES)
        mire__slot_publish(heap, self->slot, counts);
    mire__collect_as_close(self);
    return block;
}

void mire__collect_as_free(struct collect_thread *self, const void *block)
{
    struct heap *heap = mire__collect_as_open(self);
    struct live_block was;

    if (!heap)
        return;
    mire__block_as_clear(&was, heap, self->slot, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK);
    mire__collect_as_close(self);
}

void mire__collect_as_move_begin(struct collect_move *was, struct collect_thread *self, const void *old)
{
    struct heap *heap = old ? mire__collect_as_open(self) : NULL;

    was->known = false;
    if (!heap)
        return;
    was->known = mire__block_as_clear(&was->block, heap, self->slot, (uintptr_t)old & MIRE_HEAP_ADDRESS_MASK);
    mire__collect_as_close(self);
}

void mire__collect_as_move_end(struct collect_thread *self, const struct self_frame *site,
                               const struct collect_move *was, const void *old, const void *done, size_t size)
{
    struct heap *heap = done || (size > 0 && was->known) ? mire__collect_as_open(self) : NULL;

    if (!heap)
        return;
    if (!done)
        mire__block_as_put_back(heap, self->slot, (uintptr_t)old & MIRE_HEAP_ADDRESS_MASK, &was->block);
    else
        record(self, heap, site, done, size,
               was->known && was->block.tagged ? mire__node_as_class(heap, was->block.node) : self->scope);
    mire__collect_as_close(self);
}
