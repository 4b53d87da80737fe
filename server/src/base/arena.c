/*
 * arena.c - a chain of blocks, each at least as big as the piece it was taken for.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (32 * 1024)
#define ALIGN       16

struct arena_block {
    struct arena_block *older;
    size_t room;
    size_t used;
    size_t unused; /* keeps bytes[] aligned */
    _Alignas(ALIGN) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){.limit_bytes = limit_bytes};
}

void arena_fini(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->older;
        free(block);
    }
    arena->used_bytes = 0;
}

void arena_reset(struct arena *arena)
{
    while (arena->blocks && arena->blocks->older) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->older;
        free(block);
    }
    if (arena->blocks)
        arena->blocks->used = 0;
    arena->used_bytes = 0;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct arena_block *block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    block->older = arena->blocks;
    block->room = room;
    block->used = 0;
    arena->blocks = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2 || size > arena->limit_bytes - arena->used_bytes)
        return NULL;
    size_t padded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct arena_block *block = arena->blocks;
    if (!block || padded > block->room - block->used)
        block = add_block(arena, padded);
    if (!block)
        return NULL;
    void *piece = block->bytes + block->used;
    block->used += padded;
    arena->used_bytes += size;
    return memset(piece, 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;
    if (copy && len)
        memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    char shorts[256]; /* most texts are formatted once */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(shorts, sizeof shorts, format, args);
    va_end(args);
    if (len < 0 || (size_t)len < sizeof shorts)
        return len < 0 ? NULL : arena_copy(arena, shorts, (size_t)len);
    char *text = arena_alloc(arena, (size_t)len + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}
