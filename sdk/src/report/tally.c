/*
 * tally.c - see tally.h. An empty slot has a count of 0, which no pair has.
 */
#include "report/tally.h"

#include "base/alloc.h"
#include "platform/own.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS (1u << 12)

/* Keep the next pair aligned. */
struct tally_drawn {
    struct tally_pair pair;
    struct draw_spread spread;
};

enum mire_err mire__tally_init(struct tally *tally, bool drawn)
{
    *tally = (struct tally){.pair_bytes = drawn ? sizeof(struct tally_drawn) : sizeof(struct tally_pair),
                            .slot_mask = FIRST_SLOTS - 1};
    tally->pairs = mire__calloc(FIRST_SLOTS, tally->pair_bytes);
    return tally->pairs ? MIRE_OK : MIRE_E_MEMORY;
}

void mire__tally_fini(struct tally *tally)
{
    mire__free(tally->pairs);
    *tally = (struct tally){0};
}

/* The pair's slot, or the empty one where it belongs. */
static uint32_t find(const struct tally *tally, uint32_t category, uint32_t node)
{
    uint64_t mixed = ((uint64_t)category << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t slot = (uint32_t)(mixed >> 32) & tally->slot_mask;

    for (;; slot = (slot + 1) & tally->slot_mask) {
        const struct tally_pair *pair = mire__tally_at(tally, slot);

        if (pair->count == 0 || (pair->node == node && pair->category == category))
            return slot;
    }
}

/* Into a table of `slots`, without those below `least` bytes. False: no memory, nothing has changed. */
static bool rebuild(struct tally *tally, uint32_t slots, double least)
{
    struct tally fresh = {.pair_bytes = tally->pair_bytes, .slot_mask = slots - 1, .full = tally->full || least > 0};

    fresh.pairs = mire__calloc(slots, fresh.pair_bytes);
    if (!fresh.pairs)
        return false;
    for (uint32_t i = 0; i <= tally->slot_mask; i++) {
        const struct tally_pair *pair = mire__tally_at(tally, i);

        if (pair->count == 0 || pair->bytes < least)
            continue;
        memcpy(mire__tally_at(&fresh, find(&fresh, pair->category, pair->node)), pair, fresh.pair_bytes);
        fresh.pair_count++;
    }
    mire__free(tally->pairs);
    *tally = fresh;
    return true;
}

/* So many bytes that at most half of the pairs have as many. */
static double middle_bytes(const struct tally *tally)
{
    double least = 16;
    uint32_t above = tally->pair_count;

    while (above > tally->pair_count / 2) {
        least *= 2;
        above = 0;
        for (uint32_t i = 0; i <= tally->slot_mask; i++)
            above += mire__tally_at(tally, i)->count != 0 && mire__tally_at(tally, i)->bytes >= least;
    }
    return least;
}

/* Pairs of drawn blocks are larger, and fewer. */
static uint32_t slots_max(const struct tally *tally)
{
    return MIRE_TALLY_PAIRS_MAX / 3 * (tally->pair_bytes > sizeof(struct tally_pair) ? 2 : 4);
}

static bool make_room(struct tally *tally)
{
    if (tally->slot_mask + 1 < slots_max(tally))
        return rebuild(tally, 2 * (tally->slot_mask + 1), 0);
    return rebuild(tally, slots_max(tally), middle_bytes(tally));
}

/* The pair's slot in a table that has room for it. False: there is no memory. */
static bool place(uint32_t *slot, struct tally *tally, uint32_t category, uint32_t node)
{
    *slot = find(tally, category, node);
    if (mire__tally_at(tally, *slot)->count != 0)
        return true;
    if (tally->pair_count >= (tally->slot_mask + 1) / 4 * 3) {
        if (!make_room(tally))
            return false;
        *slot = find(tally, category, node);
    }
    tally->pair_count++;
    return true;
}

void mire__tally_add(struct tally *tally, uint32_t category, uint32_t node, uint64_t size_bytes, double chance)
{
    struct tally_pair *pair = mire__tally_at(tally, tally->last);
    struct draw_spread *spread;

    if (pair->count == 0 || pair->node != node || pair->category != category) {
        if (!place(&tally->last, tally, category, node)) {
            tally->full = true;
            return;
        }
        pair = mire__tally_at(tally, tally->last);
        pair->category = category;
        pair->node = node;
    }
    pair->count += 1 / chance;
    pair->bytes += (double)size_bytes / chance;
    spread = mire__tally_spread(tally, tally->last);
    if (spread)
        mire__draw_add(spread, size_bytes, chance);
}

static int by_bytes(const void *a, const void *b)
{
    const struct tally_pair *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void mire__tally_close(struct tally *tally)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i <= tally->slot_mask; i++)
        if (mire__tally_at(tally, i)->count != 0)
            memmove(mire__tally_at(tally, count++), mire__tally_at(tally, i), tally->pair_bytes);
    mire__own.qsort(tally->pairs, count, tally->pair_bytes, by_bytes);
}
