/*
 * blocks.h - segments, in order of address --> blocks of a cache, and the bytes they stand for. Inside cache/ only.
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
    bool failed; /* out of memory; what is added from then on is lost */
    struct {
        struct cache_block *rows;
        size_t count, room;
    } places;
    struct {
        uint8_t *rows;
        size_t count, room;
    } data;
    struct pack_segment pending[MIRE_CACHE_SEGMENTS]; /* the block that is not written yet */
    unsigned pending_count;
    struct pack_segment last;
};

/* Make room for about so many segments. All zero is ready. */
void blocks_reserve(struct blocks *blocks, size_t segments);

/* From segment.at on each. In order of address; what is equal to the one before it changes nothing. */
void blocks_add(struct blocks *blocks, const struct pack_segment *segments, size_t count);

/* The last block is written. Nothing more is added. */
void blocks_end(struct blocks *blocks);

void blocks_fini(struct blocks *blocks);

#endif
