/* ring.c - see ring.h. Signal-safe: arithmetic on the caller's memory only. */
#include "ring/ring.h"

#include "base/random.h"

uint32_t mire__sample_common(const struct sample *one, const struct sample *other)
{
    uint32_t common = 0;

    if ((one->flags | other->flags) & MIRE_SAMPLE_BROKEN)
        return 0;
    while (common < mire__sample_reach(one) && common < mire__sample_reach(other) &&
           mire__sample_function(one, one->depth - 1 - common) ==
               mire__sample_function(other, other->depth - 1 - common))
        common++;
    return common;
}

static struct ring_view *active_view(struct ring *ring)
{
    return &ring->views[atomic_load_explicit(&ring->active, memory_order_relaxed) & 1];
}

void mire__ring_reset(struct ring *ring, uint64_t seed)
{
    atomic_store_explicit(&ring->views[0].count, 0, memory_order_release);
    atomic_store_explicit(&ring->active, 0, memory_order_release);
    ring->thinned_count = 0;
    ring->random = seed | 1; /* never 0 */
}

/* True with probability b / (a + b). */
static bool choose_second(uint64_t *random, uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;

    return sum > 0 && mire__random_next(random) % sum < b;
}

static void thin(struct ring *ring)
{
    uint32_t from = atomic_load_explicit(&ring->active, memory_order_relaxed) & 1;
    const struct ring_view *old = &ring->views[from];
    struct ring_view *view = &ring->views[from ^ 1];
    uint32_t count = atomic_load_explicit(&old->count, memory_order_relaxed), kept = 0;

    for (uint32_t i = 0; i < count; i += 2) {
        struct ring_entry entry = old->entries[i];

        if (i + 1 < count) {
            const struct ring_entry *second = &old->entries[i + 1];

            if (choose_second(&ring->random, entry.weight_ns, second->weight_ns))
                entry.slot = second->slot;
            entry.weight_ns += second->weight_ns;
        }
        view->entries[kept++] = entry;
    }
    atomic_store_explicit(&view->count, kept, memory_order_release);
    atomic_store_explicit(&ring->active, from ^ 1, memory_order_release);
    ring->thinned_count++;
}

/* A slot that is not in the active view. The view is not full, so there is one. */
static uint32_t free_slot(const struct ring_view *view, uint32_t count)
{
    uint64_t used[(MIRE_RING_SAMPLES + 63) / 64] = {0};
    uint32_t slot = 0;

    for (uint32_t i = 0; i < count; i++)
        used[view->entries[i].slot / 64] |= 1ull << (view->entries[i].slot % 64);
    while (used[slot / 64] >> (slot % 64) & 1)
        slot++;
    return slot;
}

struct sample *mire__ring_reserve(struct ring *ring)
{
    struct ring_view *view = active_view(ring);
    uint32_t count = atomic_load_explicit(&view->count, memory_order_relaxed);

    if (count == MIRE_RING_SAMPLES) {
        thin(ring);
        view = active_view(ring);
        count = atomic_load_explicit(&view->count, memory_order_relaxed);
    }
    view->entries[count].slot = free_slot(view, count);
    return &ring->slots[view->entries[count].slot];
}

void mire__ring_append(struct ring *ring, uint64_t weight_ns)
{
    struct ring_view *view = active_view(ring);
    uint32_t count = atomic_load_explicit(&view->count, memory_order_relaxed);

    view->entries[count].weight_ns = weight_ns;
    atomic_store_explicit(&view->count, count + 1, memory_order_release);
}

void mire__ring_cut(struct ring *ring, uint64_t t_ns)
{
    struct ring_view *view = active_view(ring);
    uint32_t count = atomic_load_explicit(&view->count, memory_order_relaxed);

    while (count > 0 && ring->slots[view->entries[count - 1].slot].t_ns >= t_ns)
        count--;
    atomic_store_explicit(&view->count, count, memory_order_release);
}

void mire__ring_copy(struct ring *to, const struct ring *from)
{
    const struct ring_view *view = &from->views[atomic_load_explicit(&from->active, memory_order_relaxed) & 1];
    uint32_t count = mire__ring_count(from);

    mire__ring_reset(to, from->random);
    to->thinned_count = from->thinned_count;
    for (uint32_t i = 0; i < count; i++) {
        to->slots[i] = from->slots[view->entries[i].slot];
        to->views[0].entries[i] = (struct ring_entry){.slot = i, .weight_ns = view->entries[i].weight_ns};
    }
    atomic_store_explicit(&to->views[0].count, count, memory_order_release);
}

uint32_t mire__ring_count(const struct ring *ring)
{
    uint32_t active = atomic_load_explicit(&ring->active, memory_order_acquire) & 1;
    uint32_t count = atomic_load_explicit(&ring->views[active].count, memory_order_acquire);

    return count <= MIRE_RING_SAMPLES ? count : 0;
}

const struct sample *mire__ring_at(uint64_t *weight_ns_out, const struct ring *ring, uint32_t index)
{
    uint32_t active = atomic_load_explicit(&ring->active, memory_order_acquire) & 1;
    const struct ring_entry *entry = &ring->views[active].entries[index < MIRE_RING_SAMPLES ? index : 0];

    if (index >= mire__ring_count(ring) || entry->slot >= MIRE_RING_SAMPLES)
        return NULL;
    if (ring->slots[entry->slot].depth > MIRE_DEPTH_MAX)
        return NULL;
    if (weight_ns_out)
        *weight_ns_out = entry->weight_ns;
    return &ring->slots[entry->slot];
}
