/*
 * heaps.h - memory tables in memory, with a slot for the calling thread.
 *
 *     struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
 *     heaps_set(heaps, 0x10000, 48, heaps_stack(heaps, 3, 0x401000, 0x402000, 0x403000));
 *     ... mire__read_open(&reader, heaps->memory, heaps->bytes) ...
 *     heaps_free(heaps);
 */
#ifndef MIRE_TESTS_HEAPS_H
#define MIRE_TESTS_HEAPS_H

#include "heap/blocks.h"
#include "heap/modules.h"
#include "heap/stacks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct heaps {
    struct heap heap;
    struct heap_slot *slot;
    void *memory;
    size_t bytes;
};

/* Make tables in a mapping of their own, which is shared so that its pages can be freed. Aborts on failure. */
static inline struct heaps *heaps_new_at(uint64_t budget, enum heap_mode mode, uint64_t interval_bytes)
{
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    struct heaps *heaps = calloc(1, sizeof(*heaps));

    options.budget_bytes = budget;
    options.mode = mode;
    options.interval_bytes = interval_bytes;
    options.pid = 4711;
    heaps->bytes = mire__heap_file_bytes(budget);
    heaps->memory = mmap(NULL, heaps->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heaps->memory == MAP_FAILED || mire__heap_open(&heaps->heap, heaps->memory, &options) != MIRE_OK)
        abort();
    heaps->slot = mire__slot_as_take(&heaps->heap, 1);
    if (!heaps->slot || !mire__slot_as_enter(heaps->slot))
        abort();
    return heaps;
}

static inline struct heaps *heaps_new(uint64_t budget, enum heap_mode mode)
{
    return heaps_new_at(budget, mode, 512u << 10);
}

static inline void heaps_free(struct heaps *heaps)
{
    mire__heap_close(&heaps->heap);
    munmap(heaps->memory, heaps->bytes);
    free(heaps);
}

/* The node of a stack, outermost frame first. */
static inline uint32_t heaps_stack(struct heaps *heaps, uint32_t depth, ...)
{
    uint32_t node = MIRE_NODE_ROOT;
    va_list frames;

    va_start(frames, depth);
    for (uint32_t i = 0; i < depth; i++) {
        uint64_t address = va_arg(frames, uint64_t);

        mire__nodes_as_push(&node, &heaps->heap, node, &address, 1);
    }
    va_end(frames);
    return node;
}

static inline bool heaps_set(struct heaps *heaps, uint64_t address, uint64_t size, uint32_t node)
{
    return mire__block_as_set(&heaps->heap, heaps->slot, address, size, node);
}

static inline bool heaps_clear(struct heaps *heaps, uint64_t address)
{
    struct live_block was;

    return mire__block_as_clear(&was, &heaps->heap, heaps->slot, address);
}

/* Claim so much of the budget that the reclaimer frees everything it can. */
static inline void heaps_fill(struct heaps *heaps)
{
    atomic_fetch_add(&heaps->heap.header->claimed_bytes, heaps->heap.budget_bytes / 4);
}

/* Add a module at [start, start + bytes). */
static inline uint32_t heaps_image(struct heaps *heaps, uint64_t start, uint64_t bytes, const char *path)
{
    static const uint8_t id[20] = {0xab, 0xcd, 1, 2, 3};
    struct heap_image_facts facts = {
        .start = start, .end = start + bytes, .load = start, .id = id, .id_size = sizeof(id), .path = path};
    uint32_t index = MIRE_HEAP_NO_IMAGE;

    mire__images_as_add(&index, &heaps->heap, &facts);
    return index;
}

/*
 * Copy the file without its empty pages: the sections are adjacent, and the header is changed accordingly. A reader
 * accepts the copy. free() it.
 */
static inline uint8_t *heaps_pack(const struct heaps *heaps, size_t *bytes_out)
{
    const struct heap *heap = &heaps->heap;
    struct heap_header *header = calloc(1, heaps->bytes);
    uint64_t at = MIRE_HEAP_PAGE_BYTES;

    memcpy(header, heaps->memory, MIRE_HEAP_PAGE_BYTES);
    for (uint32_t i = 0; i < MIRE_HEAP_SECTIONS; i++) {
        const char *from = (const char *)heaps->memory + header->sections[i].at;
        uint64_t used = atomic_load(&heap->header->ready[i]);

        while (used > 0 && memcmp(from + used - MIRE_HEAP_PAGE_BYTES,
                                  (char *)header + heaps->bytes - MIRE_HEAP_PAGE_BYTES, MIRE_HEAP_PAGE_BYTES) == 0)
            used -= MIRE_HEAP_PAGE_BYTES;
        memcpy((char *)header + at, from, used);
        header->sections[i].at = at;
        header->sections[i].bytes = used;
        at += used;
    }
    header->size_bytes = *bytes_out = at;
    return realloc(header, at);
}

#endif
