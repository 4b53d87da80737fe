/*
 * thin.c - thins the tables to a longer interval: each block stays with the chance that it would have had to be drawn.
 * See reclaim.h.
 *
 * MIRE_FLAG_MOVING is set meanwhile, and no thread that was inside before is still inside. Invariant: nobody adds a
 * shadow entry, and threads clear entries by exchange, so of two that want an entry one gets it.
 */
#include "heap/reclaim.h"

#include "heap/block_table.h"
#include "heap/inside.h"
#include "heapread/read.h"

static double next_random(uint64_t *random)
{
    uint64_t x = *random | 1;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *random = x;
    return (double)(x * 0x2545f4914f6cdd1dull >> 11) * 0x1p-53;
}

/* Does a block stay when `interval` is in force? If so, block->interval becomes that interval. */
static bool stays(struct live_block *block, const struct heap *heap, uint32_t interval, uint64_t *random)
{
    uint64_t now = mire__heap_as_interval_bytes(heap, interval);
    uint64_t was = block->interval ? mire__heap_as_interval_bytes(heap, block->interval) : 1;
    double chance;

    if (block->tagged || was >= now ||
        (block->interval == 0 && block->size >= mire__heap_as_certain_bytes(heap, interval)))
        return true;
    chance = mire__draw_chance(block->size, now) / mire__draw_chance(block->size, was);
    block->interval = interval;
    return next_random(random) < chance;
}

/* ---- shadow entries ---- */

/* False: the block is left out from now on. */
static bool move_entry(struct heap *heap, _Atomic uint32_t *page, uint32_t at, uint64_t address, uint32_t interval,
                       uint64_t *random)
{
    uint32_t shadow = mire__shadow_get(&page[at]);
    struct live_block block;

    if (!mire__shadow_unpack(&block, shadow, mire__shadow_next(page, at)))
        return true;
    address += (uint64_t)(shadow >> MIRE_SHADOW_OFFSET_SHIFT & 3) << 3;
    if (stays(&block, heap, interval, random)) {
        mire__block_table_as_adopt(heap, address, &block, &page[at], shadow);
        return true;
    }
    return !atomic_compare_exchange_strong_explicit(&page[at], &shadow, 0, memory_order_relaxed, memory_order_relaxed);
}

/* Thin all shadow entries into the block table. Returns the number of blocks left out. */
static uint32_t thin_shadow(struct heap *heap, uint32_t interval, uint64_t *random)
{
    uint32_t count = atomic_load_explicit(&heap->header->shadow_pages_used, memory_order_acquire), left_out = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = atomic_load_explicit(&heap->keys[i], memory_order_relaxed);
        uint64_t begin = mire__key_begin(key);

        for (uint32_t at = 0; key && at < MIRE_SHADOW_PAGE_ENTRIES; at++)
            left_out += !move_entry(heap, mire__shadow_page(heap, i), at,
                                    begin + ((uint64_t)at << MIRE_SHADOW_SPAN_LOG), interval, random);
    }
    return left_out;
}

/* ---- the block table ---- */

static uint32_t thin_segment(struct heap *heap, struct heap_segment *segment, uint32_t interval, uint64_t *random)
{
    uint32_t left_out = 0;

    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        struct heap_entry *entry = &segment->entries[i];
        uint64_t where = atomic_load_explicit(&entry->where, memory_order_relaxed);
        uint64_t address = mire__where_address(where);
        struct live_block block;

        if (where == 0)
            continue;
        mire__block_unpack(&block, where, atomic_load_explicit(&entry->what, memory_order_relaxed));
        if (stays(&block, heap, interval, random)) {
            where = mire__where_make(address, block.interval, block.tagged);
            atomic_store_explicit(&entry->where, where, memory_order_release);
        } else {
            atomic_store_explicit(&entry->where, 0, memory_order_release);
            mire__filter_take(heap, address);
            left_out++;
        }
    }
    return left_out;
}

static uint32_t thin_blocks(struct heap *heap, uint32_t interval, uint64_t *random)
{
    uint32_t count = atomic_load_explicit(&heap->header->segments_used, memory_order_acquire), left_out = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct heap_segment *segment = &heap->blocks[i];

        if (!mire__heap_is_there(heap, i) || atomic_load_explicit(&segment->covers, memory_order_relaxed) == 0 ||
            !mire__heap_lock(&segment->lock))
            continue;
        left_out += thin_segment(heap, segment, interval, random);
        mire__heap_unlock(&segment->lock);
    }
    return left_out;
}

uint32_t mire__heap_thin(struct heap *heap, uint32_t interval, uint64_t *random)
{
    uint32_t left_out = thin_shadow(heap, interval, random);

    return left_out + thin_blocks(heap, interval, random);
}
