/*
 * tally.c - see tally.h. An empty slot has a count of 0, which no pair has.
 */
#include "report/tally.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS (1u << 12)
#define SLOTS_MAX   (MIRE_TALLY_PAIRS_MAX / 3 * 4)

enum mire_err mire__tally_init(struct tally *tally)
{
    *tally = (struct tally){.pairs = mire__calloc(FIRST_SLOTS, sizeof(*tally->pairs)), .slot_mask = FIRST_SLOTS - 1};
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

    while (tally->pairs[slot].count != 0 &&
           (tally->pairs[slot].node != node || tally->pairs[slot].category != category))
        slot = (slot + 1) & tally->slot_mask;
    return slot;
}

/* Into a table of `slots`, without those below `least` bytes. False: no memory, nothing has changed. */
static bool rebuild(struct tally *tally, uint32_t slots, double least)
{
    struct tally fresh = {.slot_mask = slots - 1, .full = tally->full || least > 0};

    fresh.pairs = mire__calloc(slots, sizeof(*fresh.pairs));
    if (!fresh.pairs)
        return false;
    for (uint32_t i = 0; i <= tally->slot_mask; i++) {
        const struct tally_pair *pair = &tally->pairs[i];

        if (pair->count == 0 || pair->bytes < least)
            continue;
        fresh.pairs[find(&fresh, pair->category, pair->node)] = *pair;
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
            above += tally->pairs[i].count != 0 && tally->pairs[i].bytes >= least;
    }
    return least;
}

static bool make_room(struct tally *tally)
{
    if (tally->slot_mask + 1 < SLOTS_MAX)
        return rebuild(tally, 2 * (tally->slot_mask + 1), 0);
    return rebuild(tally, SLOTS_MAX, middle_bytes(tally));
}

void mire__tally_add(struct tally *tally, uint32_t category, uint32_t node, double count, double bytes)
{
    struct tally_pair *pair = &tally->pairs[tally->last];

    if (count <= 0)
        return;
    if (pair->count == 0 || pair->node != node || pair->category != category) {
        uint32_t slot = find(tally, category, node);

        if (tally->pairs[slot].count == 0) {
            if (tally->pair_count >= (tally->slot_mask + 1) / 4 * 3) {
                if (!make_room(tally)) {
                    tally->full = true;
                    return;
                }
                slot = find(tally, category, node);
            }
            tally->pair_count++;
        }
        tally->last = slot;
        pair = &tally->pairs[slot];
        pair->category = category;
        pair->node = node;
    }
    pair->count += count;
    pair->bytes += bytes;
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
        if (tally->pairs[i].count != 0)
            tally->pairs[count++] = tally->pairs[i];
    qsort(tally->pairs, count, sizeof(*tally->pairs), by_bytes);
}
