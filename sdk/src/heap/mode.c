/* mode.c - see tables.h: the mode, and what happens when the budget is used up. Signal-safe. */
#include "heap/tables.h"

#include "heap/inside.h"
#include "platform/platform.h"

/* The first interval after exact mode, and the last one. */
#define FIRST_INTERVAL_BYTES (64u << 10)
#define LAST_INTERVAL_BYTES  (UINT64_C(1) << 30)

/* The caller holds mode_lock. */
static void store_mode(struct heap *heap, enum heap_mode mode)
{
    const uint32_t entries = mode == MIRE_HEAP_EXACT ? MIRE_FLAG_SHADOW : 0;
    void (*on_mode)(void) = atomic_load(&heap->on_mode);

    atomic_store_explicit(&heap->header->mode, mode, memory_order_release);
    mire__heap_flags_change(heap, MIRE_FLAG_MODE | entries, mode | entries);
    if (on_mode)
        on_mode();
}

void mire__heap_press(struct heap *heap)
{
    struct heap_header *header = heap->header;
    uint32_t mode = atomic_load_explicit(&header->mode, memory_order_relaxed), index;
    uint64_t interval = FIRST_INTERVAL_BYTES;

    if (atomic_load_explicit(&heap->pressed, memory_order_relaxed) || !mire__heap_try(&heap->mode_lock.taken))
        return;
    if (mode == MIRE_HEAP_SAMPLED)
        interval = 2 * mire__heap_as_interval_bytes(heap, mire__heap_as_interval(heap));
    index = interval <= LAST_INTERVAL_BYTES ? mire__heap_interval_index(heap, interval) : MIRE_HEAP_INTERVALS_MAX;
    if (mode != MIRE_HEAP_OFF && index < MIRE_HEAP_INTERVALS_MAX) {
        atomic_store_explicit(&header->interval, index, memory_order_release);
        store_mode(heap, MIRE_HEAP_SAMPLED);
        if (mode == MIRE_HEAP_EXACT)
            atomic_store_explicit(&header->inexact_ns, mire__now_ns(), memory_order_relaxed);
        if (atomic_fetch_add_explicit(&header->degrade_count, 1, memory_order_relaxed) == 0)
            atomic_store_explicit(&header->degraded_ns, mire__now_ns(), memory_order_relaxed);
    }
    atomic_store_explicit(&heap->pressed, 1, memory_order_release);
    mire__heap_unlock(&heap->mode_lock.taken);
}

uint32_t mire__heap_interval_index(struct heap *heap, uint64_t interval_bytes)
{
    struct heap_header *header = heap->header;
    uint32_t count = atomic_load_explicit(&header->interval_count, memory_order_relaxed);

    for (uint32_t i = 1; i < count; i++) {
        if (mire__heap_as_interval_bytes(heap, i) == interval_bytes)
            return i;
    }
    if (count == MIRE_HEAP_INTERVALS_MAX)
        return MIRE_HEAP_INTERVALS_MAX;
    atomic_store_explicit(&header->intervals[count], interval_bytes, memory_order_relaxed);
    atomic_store_explicit(&header->interval_count, count + 1, memory_order_release);
    return count;
}

enum mire_err mire__heap_set_mode(struct heap *heap, enum heap_mode mode, uint64_t interval_bytes)
{
    struct heap_header *header = heap->header;
    uint32_t was = atomic_load_explicit(&header->mode, memory_order_relaxed), index = 0;
    enum mire_err err = MIRE_OK;

    if (mode > MIRE_HEAP_SAMPLED || (mode == MIRE_HEAP_SAMPLED && interval_bytes == 0))
        return MIRE_E_RANGE;
    if (!mire__heap_lock(&heap->mode_lock.taken))
        return MIRE_E_STATE;
    if (mode == MIRE_HEAP_EXACT && atomic_load_explicit(&header->degrade_count, memory_order_relaxed) > 0)
        err = MIRE_E_STATE;
    else if (mode == MIRE_HEAP_SAMPLED &&
             (index = mire__heap_interval_index(heap, interval_bytes)) == MIRE_HEAP_INTERVALS_MAX)
        err = MIRE_E_FULL;
    if (!err) {
        atomic_store_explicit(&header->asked_mode, mode, memory_order_relaxed);
        atomic_store_explicit(&header->asked_interval_bytes, index ? interval_bytes : 0, memory_order_relaxed);
        if (mode != MIRE_HEAP_EXACT && was == MIRE_HEAP_EXACT)
            atomic_store_explicit(&header->inexact_ns, mire__now_ns(), memory_order_relaxed);
        atomic_store_explicit(&header->interval, index, memory_order_release);
        store_mode(heap, mode);
    }
    mire__heap_unlock(&heap->mode_lock.taken);
    return err;
}
