/*
 * blocks.h - encodes segments, in order of address, as blocks of a cache. Internal to cache/.
 *
 * Thread: one per struct blocks.
 */
#ifndef MIRE_CACHE_BLOCKS_H
#define MIRE_CACHE_BLOCKS_H

#include "cache/cache.h"

struct pack_segment {
    uint32_t at;
    uint32_t scope;
    uint32_t file;
    uint32_t line;
};

struct blocks {
    bool failed; /* out of memory; later segments are lost */
    struct {
        struct cache_block *rows;
        size_t count, room;
    } places;
    struct {
        uint8_t *rows;
        size_t count, room;
    } data;
    struct pack_segment pending[MIRE_CACHE_SEGMENTS]; /* segments of the block that is not written yet */
    unsigned pending_count;
    struct pack_segment last;
};

/* Reserve room for about so many segments. A zero-initialized struct is ready without it. */
void blocks_reserve(struct blocks *blocks, size_t segments);

/* Add segments in order of address. Each begins at segment.at and ends at the next one's start. A segment equal to the
 * one before it is dropped. */
void blocks_add(struct blocks *blocks, const struct pack_segment *segments, size_t count);

/* Write the last block. Nothing may be added afterwards. */
void blocks_end(struct blocks *blocks);

void blocks_fini(struct blocks *blocks);

#endif
