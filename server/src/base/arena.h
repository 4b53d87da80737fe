/*
 * arena.h - memory of one report or one request: taken piece by piece, given back at once.
 *
 * Pieces are zeroed and aligned for any type. A limit bounds the whole, so hostile input cannot take the machine's
 * memory. Thread: one at a time per arena.
 */
#ifndef MIRE_BASE_ARENA_H
#define MIRE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    struct arena_block *spare;  /* kept by arena_reset, the first to be used again in front */
    size_t used_bytes;          /* handed out since init or reset */
    size_t limit_bytes;
    size_t keep_bytes; /* of blocks for the next use; 0: one block is kept. Set after arena_init */
};

/* An empty arena that hands out at most `limit_bytes`. Takes no memory yet. */
void arena_init(struct arena *arena, size_t limit_bytes);

/* Give everything back. */
void arena_fini(struct arena *arena);

/* Forget all pieces; keeps one block for the next use, or blocks of keep_bytes: new memory costs a page fault for every
 * 4 KiB. */
void arena_reset(struct arena *arena);

/* A zeroed piece of `size` bytes, NULL if the limit or the machine's memory is reached. */
void *arena_alloc(struct arena *arena, size_t size);

/* The same for `count` pieces of `size` bytes in a row. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of `len` bytes with a NUL behind them. */
char *arena_copy(struct arena *arena, const char *text, size_t len);

/* A copy of a C string. */
char *arena_strdup(struct arena *arena, const char *text);

/* printf into the arena. */
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *arena, const char *format, ...);

#endif
