/*
 * peek.h - read the memory of modules, which may vanish at any time, a page at a time. Thread: one at a time per
 * cache. Signal-safe.
 */
#ifndef MIRE_UNWIND_PEEK_H
#define MIRE_UNWIND_PEEK_H

#include "base/base.h"

#include <string.h>

#define MIRE_PEEK_PAGES      128
#define MIRE_PEEK_PAGE_BYTES 4096

/* Recently read pages of modules, which do not change while their module stays. Zeroed memory. */
struct peek_cache {
    uint64_t address[MIRE_PEEK_PAGES]; /* 0: empty */
    uint8_t bytes[MIRE_PEEK_PAGES][MIRE_PEEK_PAGE_BYTES];
};

/* Read module memory. Returns false if a part of it is missing. */
bool mire__peek_cached(void *out, struct peek_cache *cache, uint64_t address, size_t size_bytes);

/* The same bytes in the cache; NULL if they must be read first. */
static inline const uint8_t *mire__peek_held(const struct peek_cache *cache, uint64_t address, size_t size_bytes)
{
    size_t at = (size_t)address % MIRE_PEEK_PAGE_BYTES,
           slot = (size_t)(address / MIRE_PEEK_PAGE_BYTES) % MIRE_PEEK_PAGES;

    return address >= MIRE_PEEK_PAGE_BYTES && cache->address[slot] == address - at &&
                   at + size_bytes <= MIRE_PEEK_PAGE_BYTES
               ? cache->bytes[slot] + at
               : NULL;
}

/* Bytes of module memory, read one after the other; `bad` after any failure. */
struct cursor {
    struct peek_cache *cache;
    uint64_t at, end;
    bool bad;
};

/* The slow path of mire__cursor_fixed: the bytes must be read, or are missing. */
uint64_t mire__cursor_fetch(struct cursor *cursor, size_t size_bytes);

/*
 * The next bytes, 1, 2, 4 or 8, zero-extended. A row of .eh_frame takes some hundred such reads while a thread waits
 * for its block, so nearly all of them are served from the cache.
 */
static inline uint64_t mire__cursor_fixed(struct cursor *cursor, size_t size_bytes)
{
    const uint8_t *held = mire__peek_held(cursor->cache, cursor->at, size_bytes);
    uint64_t value = 0;

    if (!held || cursor->bad || cursor->at > cursor->end || cursor->end - cursor->at < size_bytes)
        return mire__cursor_fetch(cursor, size_bytes);
    memcpy(&value, held, size_bytes); /* both processors are little-endian */
    cursor->at += size_bytes;
    return value;
}

/* The slow path of mire__cursor_uleb: a number of more than seven bits, of which the first were read. */
uint64_t mire__cursor_uleb_slow(struct cursor *cursor, uint64_t first);

static inline uint64_t mire__cursor_uleb(struct cursor *cursor)
{
    uint64_t first = mire__cursor_fixed(cursor, 1);

    return first < 0x80 ? first : mire__cursor_uleb_slow(cursor, first);
}
int64_t mire__cursor_sleb(struct cursor *cursor);

#endif
