/*
 * counters.h - each thread's counters, and the word that says whether it works on the tables.
 *
 *     inside    1   the thread may hold a shadow page, or a lock
 *               0   it holds neither, and forgets what it has looked up
 *
 * Before the reclaimer gives a page back, it changes the reference to the page, then waits until it has seen each
 * thread outside. So threads pay one store to enter and one to leave; the barrier is the reclaimer's alone
 * (mire__barrier_all).
 *
 * Counters are all allocations and frees of a thread, by size class; so the sums over all slots are exact, also in the
 * file of a killed process, but for the call in flight. Peaks need the sum over all threads at one instant: each thread
 * reports to the peaks its change since its last report, when that is more than MIRE_PUBLISH_BYTES or
 * MIRE_PUBLISH_COUNT. So a peak is exact where one thread allocates and frees a class; each other thread may add that
 * much error, in either direction.
 */
#ifndef MIRE_HEAP_COUNTERS_H
#define MIRE_HEAP_COUNTERS_H

#include "heap/tables.h"
#include "heapread/read.h"

#include <stddef.h>
#include <string.h>

/*
 * A slot for the calling thread.
 *   tid  the thread's, not 0
 * Returns NULL, which is counted, if there is none left or no room: the thread is not recorded then.
 */
struct heap_slot *mire__slot_as_take(struct heap *heap, uint32_t tid);

/* The thread ends, or is no longer recorded: its counters stay in the sums, the slot goes to the next thread. */
void mire__slot_as_give(struct heap *heap, struct heap_slot *slot);

/*
 * Begin to work on the tables. Returns false if the thread is inside already, for a signal handler interrupted it
 * there or an allocator calls another: then do nothing.
 */
MIRE_INLINE bool mire__slot_as_enter(struct heap_slot *slot)
{
    uint32_t inside;

    memcpy(&inside, (const void *)(uintptr_t)&slot->inside, sizeof(inside)); /* as mire__slot_get */
    if (inside)
        return false;
    atomic_store_explicit(&slot->inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

/* End it. */
MIRE_INLINE void mire__slot_as_leave(struct heap_slot *slot)
{
    atomic_store_explicit(&slot->inside, 0, memory_order_release);
}

/* ---- counting; called by blocks.h ---- */

/* Tell the peaks. count: one of the slot's */
void mire__slot_publish(struct heap *heap, const struct heap_slot *slot, struct heap_count *count);

#define MIRE_PUBLISH_BYTES 32768
#define MIRE_PUBLISH_COUNT 64

/* The offset within a slot of the counters of a small size, by sixteens rounded up: spares ten instructions. */
#define MIRE_SLOT_CLASSES       513u
#define MIRE_SLOT_COUNTS(class) (offsetof(struct heap_slot, counts) + (class) * sizeof(struct heap_count))
extern const uint16_t mire__slot_classes[MIRE_SLOT_CLASSES] __attribute__((visibility("hidden")));

/* The counters of a size. Hidden from the compiler is that they are part of the slot: it would keep each address. */
MIRE_INLINE struct heap_count *mire__slot_counts(struct heap_slot *slot, uint64_t size)
{
    uint64_t at = __builtin_expect(size <= (MIRE_SLOT_CLASSES - 1) * 16, 1) ? mire__slot_classes[(size + 15) / 16]
                                                                            : MIRE_SLOT_COUNTS(mire__size_class(size));
    struct heap_count *c = (struct heap_count *)(void *)((char *)slot + at);

    __asm__("" : "+r"(c));
    return c;
}

/* A sum that this thread alone stores to: a plain read is enough, and one instruction less than an atomic one. */
MIRE_INLINE int64_t mire__slot_get(const _Atomic int64_t *sum)
{
    int64_t now;

    memcpy(&now, (const void *)(uintptr_t)sum, sizeof(now));
    return now;
}

/* Add to one. */
MIRE_INLINE void mire__slot_add(_Atomic int64_t *sum, int64_t what)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) /* one instruction is atomic to readers, too */
    __asm__("addq %1, %0" : "+m"(*sum) : "re"(what) : "cc");
#else
    atomic_store_explicit(sum, mire__slot_get(sum) + what, memory_order_relaxed);
#endif
}

MIRE_INLINE void mire__slot_put(_Atomic int64_t *sum, int64_t what)
{
    atomic_store_explicit(sum, what, memory_order_relaxed);
}

/*
 * A block of `size` bytes begins to live.
 * Returns its counters if the peaks are to be updated by them (mire__slot_publish), otherwise NULL.
 */
MIRE_INLINE struct heap_count *mire__slot_raise(struct heap_slot *slot, uint64_t size)
{
    struct heap_count *c = mire__slot_counts(slot, size);
    int64_t count = mire__slot_get(&c->live_count) + 1, bytes = mire__slot_get(&c->live_bytes) + (int64_t)size;

    mire__slot_put(&c->live_count, count);
    mire__slot_put(&c->live_bytes, bytes);
    mire__slot_add(&c->count, 1);
    mire__slot_add(&c->bytes, (int64_t)size);
    return __builtin_expect(count - MIRE_PUBLISH_COUNT > mire__slot_get(&c->published_count), 0) ||
                   __builtin_expect(bytes - MIRE_PUBLISH_BYTES > mire__slot_get(&c->published_bytes), 0)
               ? c
               : NULL;
}

/* A block ends. Only here a sum falls, so only here it is compared with the highest. */
MIRE_INLINE struct heap_count *mire__slot_drop(struct heap_slot *slot, uint64_t size)
{
    struct heap_count *c = mire__slot_counts(slot, size);
    int64_t count = mire__slot_get(&c->live_count), bytes = mire__slot_get(&c->live_bytes);

    if (__builtin_expect(count > mire__slot_get(&c->high_count), 0))
        mire__slot_put(&c->high_count, count);
    if (__builtin_expect(bytes > mire__slot_get(&c->high_bytes), 0))
        mire__slot_put(&c->high_bytes, bytes);
    mire__slot_put(&c->live_count, --count);
    mire__slot_put(&c->live_bytes, bytes -= (int64_t)size);
    return __builtin_expect(count + MIRE_PUBLISH_COUNT < mire__slot_get(&c->published_count), 0) ||
                   __builtin_expect(bytes + MIRE_PUBLISH_BYTES < mire__slot_get(&c->published_bytes), 0)
               ? c
               : NULL;
}

/* Both, and update the peaks. */
static inline void mire__slot_as_count(struct heap *heap, struct heap_slot *slot, uint64_t size)
{
    struct heap_count *unpublished = mire__slot_raise(slot, size);

    if (unpublished)
        mire__slot_publish(heap, slot, unpublished);
}
static inline void mire__slot_as_uncount(struct heap *heap, struct heap_slot *slot, uint64_t size)
{
    struct heap_count *unpublished = mire__slot_drop(slot, size);

    if (unpublished)
        mire__slot_publish(heap, slot, unpublished);
}

#endif
