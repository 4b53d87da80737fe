/* classes.c - see classes.h. Signal-safe. */
#include "heap/classes.h"

#include "heap/inside.h"

#include <string.h>

static uint32_t find(const struct heap *heap, const char *name)
{
    uint32_t count = atomic_load_explicit(&heap->header->classes_used, memory_order_acquire);

    for (uint32_t i = 1; i < count; i++) {
        if (strncmp(heap->classes[i].name, name, MIRE_HEAP_NAME_BYTES - 1) == 0)
            return i;
    }
    return 0;
}

uint32_t mire__classes_as_find(struct heap *heap, const char *name)
{
    uint32_t class = name[0] ? find(heap, name) : 0;

    if (class || name[0] == '\0')
        return class;
    if (mire__heap_lock(&heap->classes_lock.taken)) {
        uint32_t count = atomic_load_explicit(&heap->header->classes_used, memory_order_relaxed);

        class = find(heap, name);
        if (class == 0 && count < MIRE_HEAP_CLASSES_MAX &&
            mire__heap_claim(heap, MIRE_HEAP_CLASSES, (count + 1) * sizeof(struct heap_class))) {
            mire__text_copy(heap->classes[count].name, MIRE_HEAP_NAME_BYTES, name);
            atomic_store_explicit(&heap->header->classes_used, count + 1, memory_order_release);
            class = count;
        }
        mire__heap_unlock(&heap->classes_lock.taken);
    }
    if (class == 0)
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_CLASS);
    return class;
}

static void raise(_Atomic uint64_t *peak, uint64_t value)
{
    uint64_t was = atomic_load_explicit(peak, memory_order_relaxed);

    while (value > was &&
           !atomic_compare_exchange_weak_explicit(peak, &was, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

void mire__shared_as_count(struct heap_shared_count *counts, uint64_t count, uint64_t bytes)
{
    uint64_t live_count = atomic_fetch_add_explicit(&counts->count, count, memory_order_relaxed) + count -
                          atomic_load_explicit(&counts->freed_count, memory_order_relaxed);
    uint64_t live_bytes = atomic_fetch_add_explicit(&counts->bytes, bytes, memory_order_relaxed) + bytes -
                          atomic_load_explicit(&counts->freed_bytes, memory_order_relaxed);

    raise(&counts->peak_count, live_count);
    raise(&counts->peak_bytes, live_bytes);
}

void mire__shared_as_uncount(struct heap_shared_count *counts, uint64_t count, uint64_t bytes)
{
    atomic_fetch_add_explicit(&counts->freed_count, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->freed_bytes, bytes, memory_order_relaxed);
}

void mire__classes_as_count(struct heap *heap, uint32_t class, uint64_t size)
{
    mire__shared_as_count(&heap->classes[class % MIRE_HEAP_CLASSES_MAX].counts, 1, size);
}

void mire__classes_as_uncount(struct heap *heap, uint32_t class, uint64_t size)
{
    mire__shared_as_uncount(&heap->classes[class % MIRE_HEAP_CLASSES_MAX].counts, 1, size);
}
