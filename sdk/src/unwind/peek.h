/*
 * peek.h - reading the memory of modules, which may vanish at any time, a page at a time. Thread: one at a time
 * per cache. Signal-safe.
 */
#ifndef MIRE_UNWIND_PEEK_H
#define MIRE_UNWIND_PEEK_H

#include "base/base.h"

#include <string.h>

#define MIRE_PEEK_PAGES      128
#define MIRE_PEEK_PAGE_BYTES 4096

/* Pages of module memory read lately. They never change while their module stays. Zeroed memory. */
struct peek_cache {
    uint64_t address[MIRE_PEEK_PAGES]; /* 0: empty */
    uint8_t bytes[MIRE_PEEK_PAGES][MIRE_PEEK_PAGE_BYTES];
};

/* Read module memory. False if any of it is not there. */
bool mire__peek_cached(void *out, struct peek_cache *cache, uint64_t address, size_t size_bytes);

/* The same bytes where they lie among the pages read lately; NULL if that is to be done first. */
static inline const uint8_t *mire__peek_held(const struct peek_cache *cache, uint64_t address, size_t size_bytes)
{
    size_t at = (size_t)address % MIRE_PEEK_PAGE_BYTES,
           slot = (size_t)(address / MIRE_PEEK_PAGE_BYTES) % MIRE_PEEK_PAGES;

    return address >= MIRE_PEEK_PAGE_BYTES && cache->address[slot] == address - at &&
                   at + size_bytes <= MIRE_PEEK_PAGE_BYTES
               ? cache->bytes[slot] + at
               : NULL;
}

/* Bytes of module memory, read one after the other; `bad` once anything went wrong. */
struct cursor {
    struct peek_cache *cache;
    uint64_t at, end;
    bool bad;
};

/* The rest of mire__cursor_fixed: the bytes are to be fetched, or not to be had. */
uint64_t mire__cursor_fetch(struct cursor *cursor, size_t size_bytes);

/*
 * The next bytes, 1, 2, 4 or 8, zero-extended. A row of .eh_frame is some hundred of them, and is read while a thread
 * waits for its block: so nearly all are taken from where they lie.
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

/* The rest of mire__cursor_uleb: a number of more than seven bits, of which the first were read. */
uint64_t mire__cursor_uleb_else(struct cursor *cursor, uint64_t first);

static inline uint64_t mire__cursor_uleb(struct cursor *cursor)
{
    uint64_t first = mire__cursor_fixed(cursor, 1);

    return first < 0x80 ? first : mire__cursor_uleb_else(cursor, first);
}
int64_t mire__cursor_sleb(struct cursor *cursor);

#endif
