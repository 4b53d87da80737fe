/*
 * heap_walk.h - calls every function of heapread/read.h on arbitrary bytes, within limits, and counts impossible
 * results.
 */
#ifndef MIRE_TESTS_HEAP_WALK_H
#define MIRE_TESTS_HEAP_WALK_H

#include "heapread/read.h"

#include <stdlib.h>
#include <string.h>

struct heap_walk {
    struct heap_reader reader;
    uint64_t blocks, regions, frames, torn, impossible;
};

#define HEAP_WALK_BLOCKS 4096u
#define HEAP_WALK_DEPTH  512u

static inline bool heap_walk_live(void *context, const struct heap_live *live)
{
    struct heap_walk *walk = context;
    uint32_t node = live->node, before = node;
    struct heap_frame frame;

    if (!(live->chance > 0 && live->chance <= 1) || live->category >= MIRE_CATEGORIES_MAX ||
        live->address > MIRE_HEAP_ADDRESS_MASK)
        walk->impossible++;
    mire__read_class(&walk->reader, node);
    for (uint32_t depth = 0; depth < HEAP_WALK_DEPTH && mire__read_frame(&frame, &walk->reader, &node); depth++) {
        walk->frames++;
        if (node >= before || frame.address > MIRE_HEAP_ADDRESS_MASK)
            walk->impossible++;
        before = node;
    }
    if (live->category >= MIRE_CATEGORY_KINDS && live->category < MIRE_CATEGORY_CLASSES)
        return ++walk->regions < HEAP_WALK_BLOCKS;
    return ++walk->blocks < HEAP_WALK_BLOCKS;
}

/* Returns the result of mire__read_open. */
static inline enum heap_read heap_walk(struct heap_walk *walk, const void *bytes, size_t size)
{
    enum heap_read answer;
    struct heap_read_image image;
    struct heap_category category;
    struct heap_facts facts;
    size_t extra_bytes;

    memset(walk, 0, sizeof(*walk));
    answer = mire__read_open(&walk->reader, bytes, size);
    if (answer != MIRE_READ_OK)
        return answer;
    mire__read_facts(&facts, &walk->reader);
    walk->impossible += strlen(facts.boot_id) >= sizeof(facts.boot_id);
    walk->torn = mire__read_blocks(&walk->reader, heap_walk_live, walk);
    walk->torn += mire__read_mappings(&walk->reader, heap_walk_live, walk);
    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX + 2; i++) {
        if (mire__read_category(&category, &walk->reader, i))
            walk->impossible += strlen(category.name) >= sizeof(category.name);
    }
    for (uint32_t i = 0; i < facts.image_count + 2; i++) {
        if (mire__read_image(&image, &walk->reader, i) && image.path_bytes > 0)
            walk->impossible += image.path + image.path_bytes > (const char *)bytes + size;
    }
    mire__read_extra(&extra_bytes, &walk->reader);
    return MIRE_READ_OK;
}

#endif
