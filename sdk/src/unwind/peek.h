/*
 * peek.h - reading the memory of modules, which may vanish at any time, a page at a time. Thread: one at a time
 * per cache. Signal-safe.
 */
#ifndef MIRE_UNWIND_PEEK_H
#define MIRE_UNWIND_PEEK_H

#include "base/base.h"

#define MIRE_PEEK_PAGES      128
#define MIRE_PEEK_PAGE_BYTES 4096

/* Pages of module memory read lately. They never change while their module stays. Zeroed memory. */
struct peek_cache {
    uint64_t address[MIRE_PEEK_PAGES]; /* 0: empty */
    uint8_t bytes[MIRE_PEEK_PAGES][MIRE_PEEK_PAGE_BYTES];
};

/* Read module memory. False if any of it is not there. */
bool mire__peek_cached(void *out, struct peek_cache *cache, uint64_t address, size_t size_bytes);

/* Bytes of module memory, read one after the other; `bad` once anything went wrong. */
struct cursor {
    struct peek_cache *cache;
    uint64_t at, end;
    bool bad;
};
uint64_t mire__cursor_fixed(struct cursor *cursor, size_t size_bytes); /* 1, 2, 4 or 8, zero-extended */
uint64_t mire__cursor_uleb(struct cursor *cursor);
int64_t mire__cursor_sleb(struct cursor *cursor);

#endif
