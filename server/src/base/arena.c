/*
 * arena.c - a chain of blocks, each at least as big as the piece it was taken for.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES     (32 * 1024)   /* the first one; later ones are as large as all before them, up to */
#define BLOCK_BYTES_MAX (1024 * 1024) /* this, unless a piece is larger */
#define ALIGN           16

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

static struct arena_block *pop(struct arena_block **list)
{
    struct arena_block *block = *list;
    if (block)
        *list = block->older;
    return block;
}

static void push(struct arena_block **list, struct arena_block *block)
{
    block->older = *list;
    *list = block;
}

void arena_fini(struct arena *arena)
{
    struct arena_block *block;
    while ((block = pop(&arena->blocks)) || (block = pop(&arena->spare)))
        free(block);
    arena->used_bytes = 0;
}

/* Give back all spare blocks but the first one, and those beside it that keep_bytes allows. */
static void trim(struct arena *arena)
{
    struct arena_block **at = &arena->spare;
    size_t kept = 0;

    while (*at) {
        if (!kept || ((*at)->room <= BLOCK_BYTES_MAX && kept + (*at)->room <= arena->keep_bytes)) {
            kept += (*at)->room;
            at = &(*at)->older;
        } else {
            free(pop(at));
        }
    }
}

void arena_reset(struct arena *arena)
{
    struct arena_block *block;
    while ((block = pop(&arena->blocks)))
        push(&arena->spare, block);
    trim(arena);
    arena->used_bytes = 0;
}

static size_t block_room(const struct arena *arena, size_t size)
{
    size_t room = arena->used_bytes < BLOCK_BYTES       ? BLOCK_BYTES
                  : arena->used_bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX
                                                        : arena->used_bytes;
    return size > room ? size : room;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->spare && arena->spare->room >= size ? pop(&arena->spare) : NULL;
    if (!block) {
        size_t room = block_room(arena, size);
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        block->room = room;
    }
    block->used = 0;
    push(&arena->blocks, block);
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
