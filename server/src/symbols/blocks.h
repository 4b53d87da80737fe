/*
 * blocks.h - writes the blocks of a cache. Inside symbols/ only.
 *
 *     segments, in order of address --> [ a belt of them --> a thread ] --> blocks, and the bytes they stand for
 *
 * How segments are written does not touch how they are found: with a thread of its own the one goes on beside the
 * other. What is written is the same.
 */
#ifndef MIRE_SYMBOLS_BLOCKS_H
#define MIRE_SYMBOLS_BLOCKS_H

#include "symbols/cache.h"

struct pack_segment {
    uint32_t at;
    uint32_t scope;
    uint32_t file;
    uint32_t line;
};

struct belt;

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
    struct belt *belt; /* NULL: blocks are written by whoever adds */
};

/*
 * All zero is ready. Write in a thread of its own from now on, if there is one to be had: until blocks_end or
 * blocks_fini only `belt` is the caller's.
 */
void blocks_begin_thread(struct blocks *blocks);

/* From segment.at on. In order of address; what is equal to the one before it changes nothing. */
void blocks_add(struct blocks *blocks, struct pack_segment segment);

/* The last block is written. Nothing more is added. */
void blocks_end(struct blocks *blocks);

void blocks_fini(struct blocks *blocks);

#endif
