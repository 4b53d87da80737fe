/* counters.c - see counters.h. Signal-safe. */
#include "heap/counters.h"

#include "heap/inside.h"

/* clang-format off */
#define ONE(class)   MIRE_SLOT_COUNTS(class)
#define TWO(class)   ONE(class), ONE(class)
#define FOUR(class)  TWO(class), TWO(class)
#define EIGHT(class) FOUR(class), FOUR(class)
#define DOUBLING(times, from) times(from), times((from) + 1), times((from) + 2), times((from) + 3)
#define SIXTEEN(class)     EIGHT(class), EIGHT(class)
#define THIRTY_TWO(class)  SIXTEEN(class), SIXTEEN(class)
#define SIXTY_FOUR(class)  THIRTY_TWO(class), THIRTY_TWO(class)
const uint16_t mire__slot_classes[MIRE_SLOT_CLASSES] = {
    TWO(0), ONE(1), ONE(2), ONE(3), ONE(4), ONE(5), ONE(6), ONE(7), /* 128 bytes */
    DOUBLING(TWO, 8), DOUBLING(FOUR, 12), DOUBLING(EIGHT, 16), DOUBLING(SIXTEEN, 20), DOUBLING(THIRTY_TWO, 24),
    DOUBLING(SIXTY_FOUR, 28), /* 8 KiB */
};
/* clang-format on */

struct heap_slot *mire__slot_as_take(struct heap *heap, uint32_t tid)
{
    _Atomic uint32_t *used = &heap->header->slots_used;

    for (uint32_t i = 0; i < MIRE_HEAP_THREADS_MAX; i++) {
        struct heap_slot *slot = &heap->slots[i];
        uint32_t nobody = 0, count = atomic_load_explicit(used, memory_order_acquire);

        if (!mire__heap_claim(heap, MIRE_HEAP_SLOTS, (i + 1) * sizeof(*slot)))
            break;
        if (!atomic_compare_exchange_strong_explicit(&slot->owner, &nobody, tid, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        while (count <= i && !atomic_compare_exchange_weak(used, &count, i + 1)) {
        }
        return slot;
    }
    mire__heap_as_drop(heap, MIRE_HEAP_DROP_THREAD);
    return NULL;
}

void mire__slot_as_give(struct heap *heap, struct heap_slot *slot)
{
    for (uint32_t class = 0; class < MIRE_HEAP_SIZES; class ++)
        mire__slot_publish(heap, slot, &slot->counts[class]);
    atomic_store_explicit(&slot->inside, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

static void raise(_Atomic int64_t *peak, int64_t value)
{
    int64_t was = atomic_load_explicit(peak, memory_order_relaxed);

    while (value > was &&
           !atomic_compare_exchange_weak_explicit(peak, &was, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Raise the peak of a sum by this thread's high since its last update, then update the sum. */
static void publish(_Atomic int64_t *sum, _Atomic int64_t *peak, _Atomic int64_t *high, _Atomic int64_t *published,
                    int64_t live)
{
    int64_t was = atomic_load_explicit(published, memory_order_relaxed);
    int64_t most = atomic_load_explicit(high, memory_order_relaxed);

    most = (most > live ? most : live) - was;
    raise(peak, atomic_fetch_add_explicit(sum, live - was, memory_order_relaxed) + most);
    atomic_store_explicit(published, live, memory_order_relaxed);
    atomic_store_explicit(high, live, memory_order_relaxed);
}

void mire__slot_publish(struct heap *heap, const struct heap_slot *slot, struct heap_count *c)
{
    struct heap_peak *peak = &heap->peaks->sizes[c - slot->counts];

    publish(&peak->count, &peak->peak_count, &c->high_count, &c->published_count, mire__slot_get(&c->live_count));
    publish(&peak->bytes, &peak->peak_bytes, &c->high_bytes, &c->published_bytes, mire__slot_get(&c->live_bytes));
}
