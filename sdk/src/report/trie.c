/*
 * trie.c - frames and nodes, each found again through a hash table that is never more than half full.
 */
#include "report/trie.h"

#include "base/alloc.h"

enum mire_err mire__trie_init(struct trie *trie, size_t cap)
{
    size_t slots = 16;

    while (slots < 2 * cap)
        slots *= 2;
    cap = cap ? cap : 1;
    *trie = (struct trie){
        .slot_mask = (uint32_t)(slots - 1),
        .frame_image = mire__calloc(cap, sizeof(int32_t)),
        .frame_offset = mire__calloc(cap, sizeof(uint64_t)),
        .frame_found = mire__calloc(cap, sizeof(uint8_t)),
        .frame_into = mire__calloc(cap, sizeof(uint32_t)),
        .node_up = mire__calloc(cap, sizeof(uint32_t)),
        .node_frame = mire__calloc(cap, sizeof(uint32_t)),
        .frame_slots = mire__calloc(slots, sizeof(uint32_t)),
        .node_slots = mire__calloc(slots, sizeof(uint32_t)),
    };
    if (trie->frame_image && trie->frame_offset && trie->frame_found && trie->frame_into && trie->node_up &&
        trie->node_frame && trie->frame_slots && trie->node_slots)
        return MIRE_OK;
    mire__trie_fini(trie);
    return MIRE_E_MEMORY;
}

void mire__trie_fini(struct trie *trie)
{
    mire__free(trie->frame_image);
    mire__free(trie->frame_offset);
    mire__free(trie->frame_found);
    mire__free(trie->frame_into);
    mire__free(trie->node_up);
    mire__free(trie->node_frame);
    mire__free(trie->frame_slots);
    mire__free(trie->node_slots);
    *trie = (struct trie){0};
}

static uint32_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32 ^ x);
}

static uint32_t frame_of(struct trie *trie, const struct trie_frame *place)
{
    uint32_t slot = mix(place->offset, (uint64_t)(int64_t)place->image) & trie->slot_mask;
    uint32_t frame;

    for (; trie->frame_slots[slot]; slot = (slot + 1) & trie->slot_mask) {
        frame = trie->frame_slots[slot] - 1;
        if (trie->frame_offset[frame] == place->offset && trie->frame_image[frame] == place->image)
            return frame;
    }
    frame = trie->frame_count++;
    trie->frame_slots[slot] = frame + 1;
    trie->frame_image[frame] = place->image;
    trie->frame_offset[frame] = place->offset;
    trie->frame_found[frame] = place->found;
    trie->frame_into[frame] = place->into;
    return frame;
}

uint32_t mire__trie_child(struct trie *trie, uint32_t parent, const struct trie_frame *place)
{
    uint32_t frame = frame_of(trie, place);
    uint32_t slot = mix(frame, parent) & trie->slot_mask;

    for (; trie->node_slots[slot]; slot = (slot + 1) & trie->slot_mask) {
        uint32_t row = trie->node_slots[slot] - 1;
        if (trie->node_frame[row] == frame && row + 1 - trie->node_up[row] == parent)
            return row + 1;
    }
    uint32_t row = trie->node_count++;
    trie->node_slots[slot] = row + 1;
    trie->node_frame[row] = frame;
    trie->node_up[row] = row + 1 - parent;
    return row + 1;
}
